"""Ray Data: one big TFRecord file as many read tasks, split where the index says.

Row counts, sizes and split points are known before anything is read, so that a file is not the unit of work.
"""

from __future__ import annotations

import os

import numpy
from ray.data.block import BlockAccessor, BlockMetadata
from ray.data.datasource import Datasource, ReadTask

import tfrmap
from tfrmap._batch import Batch, Ragged

__all__ = ["datasource"]


def datasource(paths, *, features=None, batch_size=256, **options) -> Datasource:
    """A datasource for `ray.data.read_datasource`: a row for each record, a column for each feature.

    `paths` is what `tfrmap.open` takes (with its `options`), or a `tfrmap.Dataset`. Without `features` every bytes feature stays
    as it is, pictures too: decode them in a later stage, or say so by a spec. The paths must mean the same on every worker.
    """
    dataset = paths if isinstance(paths, tfrmap.Dataset) else tfrmap.open(paths, **options)
    spec = features if features is not None else _encoded(dataset.features())
    return _Datasource(dataset.features(spec), batch_size)


def _encoded(spec):
    """The spec of inference with pictures left as bytes."""
    plain = {"fixed_len": {"dtype": "bytes", "shape": []}}
    return {key: plain if "image" in column else column for key, column in spec.items()}


class _Datasource(Datasource):
    def __init__(self, dataset, batch_size):
        super().__init__()
        self._dataset = dataset
        self._batch_size = batch_size
        self._files = dataset.shards
        self._bytes = sum(os.path.getsize(path) for path in self._files)

    def get_name(self):
        return "TFRecord"

    def estimate_inmemory_data_size(self):
        return self._bytes

    def get_read_tasks(self, parallelism, per_task_row_limit=None, *args, **kwargs):
        records = len(self._dataset)
        tasks = max(1, min(parallelism, records))
        return [
            self._task(records * k // tasks, records * (k + 1) // tasks, per_task_row_limit)
            for k in range(tasks)
        ]

    def _task(self, start, end, row_limit):
        dataset, batch_size = self._dataset[start:end], self._batch_size
        records = max(1, len(self._dataset))
        metadata = BlockMetadata(
            num_rows=end - start,
            size_bytes=self._bytes * (end - start) // records,
            input_files=self._files,
            exec_stats=None,
        )

        def read():
            for batch in dataset.batches(batch_size, threads=1):
                yield BlockAccessor.batch_to_block(_columns(batch))

        return ReadTask(read, metadata, per_task_row_limit=row_limit)


def _columns(batch: Batch) -> dict:
    """Columns as Ray takes them: arrays, and for rows of any length an array of arrays."""
    columns = {}
    for key, column in batch.items():
        name = key if isinstance(key, str) else key.decode(errors="backslashreplace")
        if isinstance(column, Ragged):
            rows = numpy.empty(len(column.row_lengths), dtype=object)
            for i, row in enumerate(column.rows()):
                rows[i] = row.rows() if isinstance(row, Ragged) else row
            columns[name] = rows
        else:
            columns[name] = column
    return columns
