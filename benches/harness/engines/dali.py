"""NVIDIA DALI on the CPU. Variants: `default` (its own resize with antialiasing) and `fastest` (fast IDCT, no fancy upsampling,
no antialiasing)."""
import os
import runpy
import sys
import time

from common import JOB, Clock, missing, say

try:
    from nvidia import dali
    from nvidia.dali import fn, pipeline_def, types
    from nvidia.dali import tfrecord as tfrec
except ImportError as error:
    missing(error)

VERSION = f"DALI {dali.__version__}"
SIZE, BUFFER = JOB.get("size", 224), JOB.get("shuffle_buffer", 1000)


def index_of(file):
    return os.path.join(JOB["prepared"] or JOB["work"], os.path.basename(file) + ".idx")


def build_index():
    """The package's own tfrecord2idx, run inside this process so that the interpreter's start is not counted."""
    script = os.path.join(os.path.dirname(sys.executable), "tfrecord2idx")
    for file in JOB["files"]:
        sys.argv = [script, file, index_of(file)]
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit:
            pass


def prepare():
    os.makedirs(JOB["prepared"], exist_ok=True)
    build_index()
    say(prepared="tfrecord2idx")


def index():
    start = time.perf_counter()
    build_index()
    seconds = time.perf_counter() - start
    lines = sum(sum(1 for _ in open(index_of(file))) for file in JOB["files"])
    size = sum(os.path.getsize(index_of(file)) for file in JOB["files"])
    say(delivered=lines, build_ms=seconds * 1e3, us_per_record=seconds * 1e6 / lines, index_bytes=size, version=VERSION)


def read(shuffled):
    found = fn.readers.tfrecord(
        path=JOB["files"], index_path=[index_of(f) for f in JOB["files"]], random_shuffle=shuffled, initial_fill=BUFFER,
        seed=JOB.get("seed", 1), pad_last_batch=True, features={
            "image/encoded": tfrec.FixedLenFeature((), tfrec.string, ""),
            "image/class/label": tfrec.FixedLenFeature([1], tfrec.int64, -1),
        })
    return found["image/encoded"], found["image/class/label"]


@pipeline_def(batch_size=JOB.get("batch", 64), num_threads=JOB["threads"], device_id=None, prefetch_queue_depth=2)
def pictures():
    encoded, label = read(True)
    if JOB["variant"] == "augment":
        pixels = fn.decoders.image_random_crop(
            encoded, device="cpu", output_type=types.RGB, random_area=[0.08, 1.0], random_aspect_ratio=[3 / 4, 4 / 3])
        pixels = fn.resize(pixels, resize_x=SIZE, resize_y=SIZE, antialias=False)
        mirror = fn.random.coin_flip()
        return fn.crop_mirror_normalize(
            pixels, mirror=mirror, dtype=types.FLOAT, output_layout="HWC", mean=[0.0] * 3, std=[255.0] * 3), label
    if JOB["variant"] == "fastest":
        pixels = fn.decoders.image(
            encoded, device="cpu", output_type=types.RGB, use_fast_idct=True, jpeg_fancy_upsampling=False)
        pixels = fn.resize(pixels, resize_x=SIZE, resize_y=SIZE, antialias=False)
    else:
        pixels = fn.decoders.image(encoded, device="cpu", output_type=types.RGB)
        pixels = fn.resize(pixels, resize_x=SIZE, resize_y=SIZE)
    return fn.crop_mirror_normalize(
        pixels, dtype=types.FLOAT, output_layout="HWC", mean=[0.0] * 3, std=[255.0] * 3), label


@pipeline_def(batch_size=64, num_threads=JOB["threads"], device_id=None)
def raw():
    return read(False)


def batches():
    clock = Clock()
    pipe = pictures()
    pipe.build()
    # DALI runs on for ever and fills batches up across epochs: what counts is the number of records asked for.
    wanted = min(JOB["epochs"] * JOB["records"], JOB.get("stop_after", 1 << 62))
    while len(clock.ids) < wanted:
        pixels, labels = pipe.run()
        values, numbers = pixels.as_array(), labels.as_array().reshape(-1)
        left = wanted - len(clock.ids)
        if JOB["records"] - len(clock.ids) % JOB["records"] < len(numbers):
            # The last batch of an epoch is padded with its last record.
            left = min(left, JOB["records"] - len(clock.ids) % JOB["records"])
        clock.batch(values[:left], numbers[:left].tolist())
    clock.done(version=VERSION, shuffle=f"buffer of {BUFFER}")


def scan():
    pipe = raw()
    pipe.build()
    start = time.perf_counter()
    count = size = 0
    while count < JOB["records"]:
        encoded, _ = pipe.run()
        count += len(encoded)
        size += sum(encoded.at(i).nbytes for i in range(len(encoded)))
    seconds = time.perf_counter() - start
    say(delivered=JOB["records"], records_per_s=JOB["records"] / seconds, gb_per_s=size / seconds / 1e9, version=VERSION)


{"prepare": prepare, "index": index, "batches": batches, "scan": scan}[JOB["task"]]()
