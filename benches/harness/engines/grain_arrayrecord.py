"""Grain over ArrayRecord files, which are made from the TFRecords first. Pictures are decoded and resized by OpenCV."""
import os
import time

from common import JOB, Clock, ids_checksum, missing, say, version_of

try:
    import cv2
    import grain
    import numpy as np
    from array_record.python.array_record_data_source import ArrayRecordDataSource
    from array_record.python.array_record_module import ArrayRecordWriter
    from tfrecord import example_pb2, tfrecord_iterator
except ImportError as error:
    missing(error)

cv2.setNumThreads(0)
VERSION = version_of("grain", "array_record", "opencv-python-headless")
THREADS, SIZE = JOB["threads"], JOB.get("size", 224)
FILES = [os.path.join(JOB["prepared"], os.path.basename(f) + ".array_record") for f in JOB["files"]]


def prepare():
    os.makedirs(JOB["prepared"], exist_ok=True)
    for source, target in zip(JOB["files"], FILES):
        writer = ArrayRecordWriter(target, "group_size:1")
        for record in tfrecord_iterator(source):
            writer.write(bytes(record))
        writer.close()
    say(prepared="array_record")


def picture(features):
    encoded = np.frombuffer(features["image/encoded"].bytes_list.value[0], np.uint8)
    pixels = cv2.imdecode(encoded, cv2.IMREAD_COLOR_RGB)
    pixels = cv2.resize(pixels, (SIZE, SIZE), interpolation=cv2.INTER_LINEAR)
    return pixels.astype(np.float32) * np.float32(1 / 255), features["image/class/label"].int64_list.value[0]


def tensor(features):
    return np.array(features["x"].float_list.value, np.float32), features["label"].int64_list.value[0]


class Load(grain.transforms.Map):
    def map(self, record):
        example = example_pb2.Example()
        example.ParseFromString(record)
        features = example.features.feature
        return tensor(features) if JOB["task"] == "tensors" else picture(features)


def dataset(epochs):
    found = grain.MapDataset.source(ArrayRecordDataSource(FILES)).shuffle(seed=JOB["seed"])
    found = found.map(Load()).batch(JOB["batch"]).repeat(epochs)
    if JOB.get("processes"):
        found = found.to_iter_dataset(grain.ReadOptions(num_threads=1, prefetch_buffer_size=8))
        return found.mp_prefetch(grain.MultiprocessingOptions(num_workers=THREADS, per_worker_buffer_size=4))
    return found.to_iter_dataset(grain.ReadOptions(num_threads=JOB.get("read_threads", THREADS + 1), prefetch_buffer_size=8))


def batches():
    clock = Clock("records" if JOB["task"] == "tensors" else "images")
    for values, labels in dataset(JOB["epochs"]):
        clock.batch(values, [int(number) for number in labels])
        if clock.full:
            break
    clock.done(version=VERSION, shuffle="whole set, new each epoch")


def resume():
    import json

    iterator = iter(dataset(1))
    ids = []
    while len(ids) < JOB["records"] // 2:
        ids.extend(int(number) for number in next(iterator)[1])
    state = iterator.get_state()
    del iterator
    start = time.perf_counter()
    iterator = iter(dataset(1))
    iterator.set_state(state)
    first = [int(number) for number in next(iterator)[1]]
    seconds = time.perf_counter() - start
    ids.extend(first)
    for _, labels in iterator:
        ids.extend(int(number) for number in labels)
    say(delivered=len(ids), checksum=ids_checksum(ids), resume_ms=seconds * 1e3,
        state_bytes=len(json.dumps(state)), version=VERSION)


def random_get():
    """Single records by number, in a fixed scattered order."""
    import zlib

    count, stride = JOB["records"], JOB["stride"]
    start = time.perf_counter()
    source = ArrayRecordDataSource(FILES)
    opened = time.perf_counter() - start
    source[0]
    start = time.perf_counter()
    size = 0
    for k in range(count):
        size += len(source[k * stride % count])
    seconds = time.perf_counter() - start
    crc = 0
    for number in JOB["sample"]:
        crc = zlib.crc32(source[number], crc)
    say(delivered=count, bytes=size, checksum=f"{crc:08x}", us_per_record=seconds * 1e6 / count,
        records_per_s=count / seconds, open_ms=opened * 1e3, version=VERSION)


def open_set():
    """Opens the set and reads its last record."""
    import zlib

    start = time.perf_counter()
    source = ArrayRecordDataSource(FILES)
    count = len(source)
    opened = time.perf_counter()
    source[count - 1]
    first = time.perf_counter() - opened
    crc = 0
    for number in JOB["sample"]:
        crc = zlib.crc32(source[number], crc)
    say(delivered=count, checksum=f"{crc:08x}", open_ms=(opened - start) * 1e3, first_position_ms=first * 1e3, version=VERSION)


def main(_):
    {"prepare": prepare, "batches": batches, "tensors": batches, "resume": resume, "random-get": random_get,
     "open": open_set}[JOB["task"]]()


# Grain's worker processes need absl's flags parsed.
from absl import app

app.run(main, argv=["grain_arrayrecord"])
