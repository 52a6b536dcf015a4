"""The queue pipeline of TensorFlow 1, as its tutorials had it: one reader, `shuffle_batch` with small buffers, queue runners."""
from common import JOB, Clock, missing

try:
    import tensorflow.compat.v1 as tf
except ImportError as error:
    missing(error)

tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)
BATCH, THREADS, SIZE = JOB["batch"], JOB["threads"], [JOB.get("size", 224)] * 2


def load(queue):
    _, record = tf.TFRecordReader().read(queue)
    example = tf.parse_single_example(record, features={
        "image/encoded": tf.FixedLenFeature([], tf.string),
        "image/class/label": tf.FixedLenFeature([], tf.int64),
    })
    pixels = tf.image.convert_image_dtype(tf.image.decode_jpeg(example["image/encoded"], channels=3), tf.float32)
    return tf.image.resize_images(pixels, SIZE), example["image/class/label"]


clock = Clock()
files = tf.train.string_input_producer(JOB["files"], num_epochs=JOB["epochs"], seed=JOB["seed"])
# The tutorials' numbers at a batch of 10 (capacity 30, min_after_dequeue 10), in proportion for others.
pixels, labels = tf.train.shuffle_batch(
    list(load(files)), batch_size=BATCH, capacity=3 * BATCH, min_after_dequeue=BATCH, num_threads=THREADS,
    allow_smaller_final_batch=True)
with tf.Session() as session:
    session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    coordinator = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess=session, coord=coordinator)
    try:
        while not coordinator.should_stop() and not clock.full:
            values, numbers = session.run([pixels, labels])
            clock.batch(values, numbers.tolist())
    except tf.errors.OutOfRangeError:
        pass
    coordinator.request_stop()
    if not clock.full:
        coordinator.join(threads)
clock.done(version=f"TensorFlow {tf.VERSION} through compat.v1", shuffle=f"buffer of {BATCH} to {3 * BATCH}")
