"""The reference values: TensorFlow's accurate decode and resize of the sampled pictures, one at a time, nothing else."""
from common import JOB, write_values

import tensorflow as tf

FEATURES = {
    "image/encoded": tf.io.FixedLenFeature([], tf.string),
    "image/class/label": tf.io.FixedLenFeature([], tf.int64),
}
wanted = set(JOB["sample"])
values = {}
for record in tf.data.TFRecordDataset(JOB["files"]):
    if len(values) == len(wanted):
        break
    example = tf.io.parse_single_example(record, FEATURES)
    number = int(example["image/class/label"])
    if number in wanted:
        pixels = tf.io.decode_jpeg(example["image/encoded"], channels=3, dct_method="INTEGER_ACCURATE")
        pixels = tf.image.convert_image_dtype(pixels, tf.float32)
        values[number] = tf.image.resize(pixels, [JOB["size"]] * 2).numpy()
write_values(values)
print(f"TensorFlow {tf.__version__} (INTEGER_ACCURATE, convert_image_dtype, tf.image.resize)")
