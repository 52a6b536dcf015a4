"""Batches as Python sees them."""

from __future__ import annotations

import typing

from tfrmap._errors import FeatureError


def objects(values, shape):
    """An array of objects in a shape."""
    import numpy

    array = numpy.empty(len(values), dtype=object)
    array[:] = values
    return array.reshape(shape)


class Ragged(typing.NamedTuple):
    """Rows of any length: their values one row behind the other, and the number of elements of each row.

    `values` is itself a `Ragged` for sequences whose steps have any number of values.
    """

    values: typing.Any
    row_lengths: typing.Any

    def rows(self) -> list:
        """A view for each row (a `Ragged` each where the values are ragged)."""
        lengths = [int(length) for length in self.row_lengths]
        rows = []
        start = value_start = 0
        for length in lengths:
            end = start + length
            if isinstance(self.values, Ragged):
                steps = self.values.row_lengths[start:end]
                value_end = value_start + int(steps.sum())
                rows.append(Ragged(self.values.values[value_start:value_end], steps))
                value_start = value_end
            else:
                rows.append(self.values[start:end])
            start = end
        return rows


class Batch(dict):
    """The columns of a batch by their keys: NumPy arrays that own the memory they were decoded into.

    Columns of rows of any length are `Ragged`; byte strings are arrays of `bytes` objects.

    indices: the global record number of each row (uint64).
    sources: for each row the number of its data file in `Dataset.shards`, and the record's number in it.
    epoch: the epoch that the rows belong to.
    valid: False for rows that only fill up (`remainder="pad"`) or stand for a bad record (`on_error="mask"`).
    lengths: for each padded column, the number of elements of each row that count.
    """

    __slots__ = ("_image_key", "_label_key", "epoch", "indices", "lengths", "sources", "valid")

    def __init__(
        self,
        columns=(),
        *,
        epoch=0,
        indices=(),
        sources=(),
        valid=(),
        lengths=None,
        image_key=None,
        label_key=None,
    ):
        super().__init__(columns)
        self.epoch = epoch
        self.indices = indices
        self.sources = sources
        self.valid = valid
        self.lengths = {} if lengths is None else lengths
        self._image_key = image_key
        self._label_key = label_key

    @property
    def images(self):
        """The only column of pictures."""
        return self._only(self._image_key, "pictures")

    @property
    def labels(self):
        """The column of labels: `image/class/label`, or the only one that can be meant."""
        return self._only(self._label_key, "labels")

    def __missing__(self, key):
        raise KeyError(f"{key!r} is no column of the batch; there are {list(self)}")

    def _only(self, key, what):
        if key is None:
            raise FeatureError(f"no single column is known to hold {what}: choose one of {list(self)}")
        return self[key]

    def with_columns(self, columns) -> Batch:
        """A batch of the same records with other columns."""
        keys = {"image_key": self._image_key, "label_key": self._label_key}
        return Batch(
            columns,
            epoch=self.epoch,
            indices=self.indices,
            sources=self.sources,
            valid=self.valid,
            lengths=self.lengths,
            **{name: key if key in columns else None for name, key in keys.items()},
        )

    def rows(self) -> list[dict]:
        """A dict of views for each row."""
        columns = {
            key: column.rows() if isinstance(column, Ragged) else column for key, column in self.items()
        }
        return [{key: column[i] for key, column in columns.items()} for i in range(len(self.indices))]

    def __reduce__(self):
        fields = {name: getattr(self, name) for name in ("epoch", "indices", "sources", "valid", "lengths")}
        fields.update(image_key=self._image_key, label_key=self._label_key)
        return (_restore, (dict(self), fields))

    def __copy__(self):
        return self.with_columns(dict(self))

    def __repr__(self):
        columns = ", ".join(f"{key!r}: {_describe(column)}" for key, column in self.items())
        return f"<Batch of {len(self.indices)} rows: {columns}>"


def _restore(columns, fields):
    return Batch(columns, **fields)


def _describe(column):
    if isinstance(column, Ragged):
        return f"ragged {_describe(column.values)}"
    if hasattr(column, "dtype"):
        return f"{column.dtype} {list(column.shape)}"
    return type(column).__name__
