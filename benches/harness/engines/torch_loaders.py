"""PyTorch's DataLoader over the `tfrecord` package or WebDataset; OpenCV decodes. Variants: `tfrecord`, `webdataset`."""
import io
import os
import tarfile
import time

from common import JOB, Clock, missing, say, version_of

try:
    import cv2
    import numpy as np
    from tfrecord import example_pb2, tfrecord_iterator

    if JOB["task"] in ("batches", "tensors"):
        # Index and scan need no PyTorch.
        import torch
        from tfrecord.torch.dataset import TFRecordDataset

        torch.set_num_threads(1)
except ImportError as error:
    missing(error)

cv2.setNumThreads(0)
SIZE, WORKERS, BUFFER = JOB.get("size", 224), JOB["threads"], JOB.get("shuffle_buffer", 1000)
FILES = JOB["files"]


def prepared(file, ending):
    return os.path.join(JOB["prepared"], os.path.basename(file) + ending)


def build_index(target):
    from tfrecord.tools.tfrecord2idx import create_index

    for file in FILES:
        create_index(file, target(file))


def prepare():
    os.makedirs(JOB["prepared"], exist_ok=True)
    if JOB["variant"] == "tfrecord":
        build_index(lambda file: prepared(file, ".idx"))
        say(prepared="tfrecord2idx")
    for file in FILES:
        with tarfile.open(prepared(file, ".tar"), "w") as tar:
            for record in tfrecord_iterator(file):
                example = example_pb2.Example()
                example.ParseFromString(bytes(record))
                features = example.features.feature
                number = features["image/class/label"].int64_list.value[0]
                parts = {"jpg": features["image/encoded"].bytes_list.value[0], "cls": str(number).encode()}
                for ending, content in parts.items():
                    entry = tarfile.TarInfo(f"{number:08}.{ending}")
                    entry.size = len(content)
                    tar.addfile(entry, io.BytesIO(content))
    say(prepared="tar")


def picture(encoded):
    pixels = cv2.imdecode(np.frombuffer(encoded, np.uint8), cv2.IMREAD_COLOR_RGB)
    pixels = cv2.resize(pixels, (SIZE, SIZE), interpolation=cv2.INTER_LINEAR)
    return pixels.astype(np.float32) * np.float32(1 / 255)


def tfrecord_set():
    if JOB["task"] == "tensors":
        spec = {"x": "float", "label": "int"}
        load = lambda row: (np.asarray(row["x"], np.float32), int(row["label"][0]))
    else:
        spec = {"image/encoded": "byte", "image/class/label": "int"}
        load = lambda row: (picture(row["image/encoded"]), int(row["image/class/label"][0]))
    # MultiTFRecordDataset draws for ever; a chain of single sets, each split over the workers by its index, gives exact epochs.
    parts = [TFRecordDataset(f, prepared(f, ".idx"), spec, shuffle_queue_size=BUFFER, transform=load) for f in FILES]
    return torch.utils.data.DataLoader(
        torch.utils.data.ChainDataset(parts), batch_size=JOB["batch"], num_workers=WORKERS, prefetch_factor=4,
        persistent_workers=True), f"buffer of {BUFFER} inside one file at a time"


def webdataset_set():
    import webdataset as wds

    tars = [prepared(f, ".tar") for f in FILES]
    found = wds.WebDataset(
        tars, shardshuffle=len(tars), nodesplitter=wds.split_by_node, workersplitter=wds.split_by_worker, empty_check=False)
    found = found.shuffle(BUFFER).to_tuple("jpg", "cls").map_tuple(picture, int).batched(JOB["batch"])
    loader = wds.WebLoader(found, batch_size=None, num_workers=WORKERS, prefetch_factor=4, persistent_workers=True)
    return loader, f"file order + buffer of {BUFFER} in each worker"


def batches():
    clock = Clock("records" if JOB["task"] == "tensors" else "images")
    loader, shuffle = {"tfrecord": tfrecord_set, "webdataset": webdataset_set}[JOB["variant"]]()
    for _ in range(JOB["epochs"]):
        for values, labels in loader:
            clock.batch(np.asarray(values), [int(number) for number in labels])
            if clock.full:
                break
    clock.done(version=version_of("torch", JOB["variant"], "opencv-python-headless") + f", {WORKERS} worker processes", shuffle=shuffle)


def index():
    target = lambda file: os.path.join(JOB["work"], os.path.basename(file) + ".tfindex")
    start = time.perf_counter()
    build_index(target)
    seconds = time.perf_counter() - start
    lines = sum(sum(1 for _ in open(target(f))) for f in FILES)
    size = sum(os.path.getsize(target(f)) for f in FILES)
    say(delivered=lines, build_ms=seconds * 1e3, us_per_record=seconds * 1e6 / lines, index_bytes=size, version=version_of("tfrecord"))


def scan():
    start = time.perf_counter()
    count = size = 0
    for file in FILES:
        for record in tfrecord_iterator(file):
            count += 1
            size += len(record)
    seconds = time.perf_counter() - start
    say(delivered=count, bytes=size, records_per_s=count / seconds, gb_per_s=size / seconds / 1e9, version=version_of("tfrecord"))


{"prepare": prepare, "batches": batches, "tensors": batches, "index": index, "scan": scan}[JOB["task"]]()
