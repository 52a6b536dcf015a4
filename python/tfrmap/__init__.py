"""Shuffled, decoded, batched TFRecord files, without TensorFlow.

    import tfrmap

    for batch in tfrmap.open("data/train-*").shuffled(7).epochs(90).batches(64):
        train(batch.images, batch.labels)

`tfrmap.torch` has a loader for PyTorch, `tfrmap.grain` sources for Grain, `tfrmap.ray` a datasource for Ray Data; each imports
its framework only when it is itself imported.
"""

from tfrmap._batch import Batch, Ragged
from tfrmap._errors import (
    ArgumentError,
    CorruptionError,
    Error,
    FeatureError,
    FileError,
    ImageError,
    NotFoundError,
    StaleIndexError,
)
from tfrmap._native import Batches, Dataset, Record, Writer, __version__, index, open
from tfrmap._show import show

__all__ = [
    "ArgumentError",
    "Batch",
    "Batches",
    "CorruptionError",
    "Dataset",
    "Error",
    "FeatureError",
    "FileError",
    "ImageError",
    "NotFoundError",
    "Ragged",
    "Record",
    "StaleIndexError",
    "Writer",
    "__version__",
    "index",
    "open",
    "show",
]
