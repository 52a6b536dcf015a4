"""FFCV: its own file format, made first; pictures are stored as JPEGs encoded again at quality 90, which OpenCV writes as 4:2:0. The
first epoch, in which its code is compiled, counts as start-up: it is run before the clock starts for rates, and the first batch is that
of this epoch."""
import os
import time

from common import JOB, Clock, missing, say, version_of

try:
    import cv2
    import ffcv
    import numpy as np
    import torch
    from ffcv.fields import IntField, RGBImageField
    from ffcv.fields.decoders import IntDecoder
    from ffcv.fields.rgb_image import ResizedCropRGBImageDecoder
    from ffcv.loader import Loader, OrderOption
    from ffcv.transforms import NormalizeImage
    from ffcv.writer import DatasetWriter
    from tfrecord import example_pb2, tfrecord_iterator
except ImportError as error:
    missing(error)

FILE = os.path.join(JOB["prepared"], "train.beton")


def whole_picture(height, width, scale, ratio):
    return 0, 0, height, width


class Resize(ResizedCropRGBImageDecoder):
    """The whole picture at the size asked for: FFCV itself has only crops of it, and another crop would be another job."""

    scale = ratio = None

    @property
    def get_crop_generator(self):
        return whole_picture


class Pictures:
    def __init__(self):
        self.records = [bytes(record) for file in JOB["files"] for record in tfrecord_iterator(file)]

    def __len__(self):
        return len(self.records)

    def __getitem__(self, i):
        example = example_pb2.Example()
        example.ParseFromString(self.records[i])
        features = example.features.feature
        encoded = np.frombuffer(features["image/encoded"].bytes_list.value[0], np.uint8)
        return cv2.imdecode(encoded, cv2.IMREAD_COLOR_RGB), features["image/class/label"].int64_list.value[0]


def prepare():
    os.makedirs(JOB["prepared"], exist_ok=True)
    fields = {"image": RGBImageField(write_mode="jpg", jpeg_quality=90), "label": IntField()}
    DatasetWriter(FILE, fields, num_workers=1).from_indexed_dataset(Pictures())
    say(prepared="beton")


def batches():
    size = JOB.get("size", 224)
    scale = NormalizeImage(np.zeros(3, np.float32), np.full(3, 255, np.float32), np.float32)
    loader = Loader(
        FILE, batch_size=JOB["batch"], num_workers=JOB["threads"], order=OrderOption.RANDOM, os_cache=True, drop_last=False,
        batches_ahead=3, seed=JOB["seed"], pipelines={
            "image": [Resize((size, size)), scale], "label": [IntDecoder()]})
    begin = time.perf_counter()
    first = None
    for _ in loader:
        first = first or time.perf_counter() - begin
    clock = Clock()
    for _ in range(JOB["epochs"]):
        for values, labels in loader:
            clock.batch(np.asarray(values), np.asarray(labels).reshape(-1).tolist())
    clock.first_from_start = clock.first_from_start - (clock.start - begin) + first
    clock.done(version=version_of("ffcv", "torch"), shuffle="whole set, new each epoch")


{"prepare": prepare, "batches": batches}[JOB["task"]]()
