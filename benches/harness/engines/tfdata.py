"""tf.data. Variants of the picture job: `same` (INTEGER_ACCURATE: our pixels), `guide` (as in TensorFlow's guide),
`fastest` (fast IDCT, no fancy upsampling, scaling after the resize, order not kept), `augment` (random resized crop and flip)."""
import time

from common import JOB, Clock, ids_checksum, missing, say

try:
    import tensorflow as tf
except ImportError as error:
    missing(error)

AUTO = tf.data.AUTOTUNE
SIZE = [JOB.get("size", 224)] * 2
THREADS = JOB["threads"]
VERSION = f"TensorFlow {tf.__version__}"


def decode(encoded, **how):
    return tf.io.decode_jpeg(encoded, channels=3, **how)


def same(example):
    pixels = decode(example["image/encoded"], dct_method="INTEGER_ACCURATE")
    return tf.image.resize(tf.image.convert_image_dtype(pixels, tf.float32), SIZE)


def guide(example):
    return tf.image.resize(tf.image.convert_image_dtype(decode(example["image/encoded"]), tf.float32), SIZE)


def fastest(example):
    pixels = decode(example["image/encoded"], dct_method="INTEGER_FAST", fancy_upscaling=False)
    return tf.image.resize(pixels, SIZE) * (1 / 255)


def augment(example):
    shape = tf.stack([tf.cast(example["image/height"], tf.int32), tf.cast(example["image/width"], tf.int32), 3])
    whole = tf.constant([[[0.0, 0.0, 1.0, 1.0]]])
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        shape, whole, area_range=(0.08, 1.0), aspect_ratio_range=(3 / 4, 4 / 3), max_attempts=10,
        use_image_if_no_bounding_boxes=True)
    window = tf.stack([begin[0], begin[1], size[0], size[1]])
    pixels = tf.io.decode_and_crop_jpeg(
        example["image/encoded"], window, channels=3, dct_method="INTEGER_ACCURATE")
    pixels = tf.image.resize(tf.image.convert_image_dtype(pixels, tf.float32), SIZE)
    return tf.image.random_flip_left_right(pixels)


PICTURES = {"same": same, "guide": guide, "fastest": fastest, "augment": augment}


def one(shape, kind):
    return tf.io.FixedLenFeature(shape, kind)


def features():
    if JOB["task"] == "tensors":
        return {"x": one([32], tf.float32), "label": one([], tf.int64)}
    found = {"image/encoded": one([], tf.string), "image/class/label": one([], tf.int64)}
    if JOB.get("variant") == "augment":
        found |= {"image/height": one([], tf.int64), "image/width": one([], tf.int64)}
    return found


def records():
    """The records in the order that the job's options ask for."""
    seed, buffer = JOB["seed"], JOB.get("shuffle_buffer", 1000)
    read = JOB.get("read_buffer", 8 << 20)
    files = tf.data.Dataset.from_tensor_slices(JOB["files"]).shuffle(len(JOB["files"]), seed=seed)
    parallel = AUTO if JOB.get("parallel_reads", True) else None
    found = files.interleave(
        lambda file: tf.data.TFRecordDataset(file, buffer_size=read), cycle_length=JOB.get("cycle", 4), num_parallel_calls=parallel)
    return found.shuffle(buffer, seed=seed)


def parallel_calls():
    calls = JOB.get("parallel_calls", "threads")
    return AUTO if calls == "auto" else THREADS if calls == "threads" else calls


def pipeline(epochs):
    spec, batch = features(), JOB["batch"]
    found = records().repeat(epochs)
    if JOB["task"] == "tensors":
        # Parsing a batch at once is tf.data's fast way for small records.
        found = found.batch(batch).map(
            lambda rows: (lambda e: (e["x"], e["label"]))(tf.io.parse_example(rows, spec)), num_parallel_calls=parallel_calls())
    else:
        picture = PICTURES[JOB["variant"]]

        def load(record):
            example = tf.io.parse_single_example(record, spec)
            return picture(example), example["image/class/label"]

        found = found.map(load, num_parallel_calls=parallel_calls()).batch(batch, num_parallel_calls=None)
    options = tf.data.Options()
    options.deterministic = bool(JOB.get("deterministic", False))
    if JOB.get("private_threads"):
        options.threading.private_threadpool_size = THREADS
    return found.prefetch(AUTO).with_options(options)


def limit_threads():
    tf.config.threading.set_intra_op_parallelism_threads(THREADS)
    tf.config.threading.set_inter_op_parallelism_threads(THREADS)


def shuffle():
    return f"file order + buffer of {JOB.get('shuffle_buffer', 1000)}"


def batches():
    limit_threads()
    clock = Clock("records" if JOB["task"] == "tensors" else "images")
    # The iterator is kept to the end of the process: taking it down can wait for AUTOTUNE's thread to wake, for up to a minute.
    iterator = iter(pipeline(JOB["epochs"]))
    for values, labels in iterator:
        clock.batch(values.numpy(), labels.numpy().tolist())
        if clock.full:
            break
    clock.done(version=VERSION, shuffle=shuffle())


def scan():
    """Every record through the reader, which checks both CRCs; counted inside the runtime."""
    zero = tf.constant(0, tf.int64)
    start = time.perf_counter()
    found = tf.data.TFRecordDataset(JOB["files"], buffer_size=8 << 20, num_parallel_reads=THREADS)
    count, size = found.reduce(
        (zero, zero), lambda sum, record: (sum[0] + 1, sum[1] + tf.cast(tf.strings.length(record), tf.int64)))
    count, size = int(count), int(size)
    seconds = time.perf_counter() - start
    say(delivered=count, bytes=size, records_per_s=count / seconds, gb_per_s=size / seconds / 1e9, version=VERSION)


def resume():
    """Half an epoch, a checkpoint of the iterator, a new pipeline, the rest."""
    import os
    import shutil

    limit_threads()
    folder = os.path.join(JOB["work"], "tfdata-checkpoint")
    shutil.rmtree(folder, ignore_errors=True)
    iterator = iter(pipeline(1))
    ids = []
    while len(ids) < JOB["records"] // 2:
        ids.extend(next(iterator)[1].numpy().tolist())
    start = time.perf_counter()
    saved = tf.train.Checkpoint(iterator=iterator).save(os.path.join(folder, "state"))
    save = time.perf_counter() - start
    size = sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder))
    del iterator
    start = time.perf_counter()
    iterator = iter(pipeline(1))
    tf.train.Checkpoint(iterator=iterator).restore(saved)
    first = next(iterator)[1].numpy().tolist()
    seconds = time.perf_counter() - start
    ids.extend(first)
    for _, labels in iterator:
        ids.extend(labels.numpy().tolist())
    say(delivered=len(ids), checksum=ids_checksum(ids), resume_ms=seconds * 1e3, save_ms=save * 1e3,
        state_bytes=size, version=VERSION)


{"batches": batches, "tensors": batches, "scan": scan, "resume": resume}[JOB["task"]]()
