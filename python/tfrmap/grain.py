"""JAX and Grain: sources by protocol. Nothing of Grain is imported.

`Batches` is the fast way: its elements are ready batches, so that Grain is entered once a batch. `Records` gives the payloads to
pipelines that parse and shuffle by themselves.
"""

from __future__ import annotations

import operator

import tfrmap

__all__ = ["Batches", "Records"]


class Records:
    """A random-access source of payloads: element `i` is the bytes of record `i`."""

    def __init__(self, dataset: tfrmap.Dataset):
        self.dataset = dataset

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index) -> bytes:
        return bytes(self.dataset[operator.index(index)])

    def __getitems__(self, indices) -> list[bytes]:
        return [self[index] for index in indices]

    _getitems = __getitems__

    def __repr__(self) -> str:
        # Grain compares it when it restores a checkpoint: what the data is, not where.
        return f"Records(fingerprint={self.dataset.fingerprint})"


class Batches:
    """A random-access source of ready batches: element `k` is step `k` of the training, a dict of arrays.

    `dataset.shuffled(seed)` is shuffled anew in each of the `epochs`; a rank's share is chosen by `dataset.for_rank`, not by
    Grain's sharding, and the order is not to be shuffled again. Grain's own state (the next index) then resumes exactly.
    With `remainder="keep"` the last batch of an epoch may be short, and ranks may differ by a batch. With `"pad"` every batch
    has the same number of rows, and a column `valid` that is False for those that only fill up.
    """

    def __init__(self, dataset: tfrmap.Dataset, batch_size: int, *, epochs: int = 1, remainder: str = "drop"):
        self.dataset = dataset
        self.batch_size = batch_size
        self.epochs = epochs
        self.remainder = remainder
        self._steps = dataset.batches(batch_size, remainder=remainder).steps_per_epoch

    def __len__(self) -> int:
        return self._steps * self.epochs

    def __getitem__(self, index):
        index = operator.index(index)
        if not -len(self) <= index < len(self):
            raise IndexError(f"there is no batch {index}, there are {len(self)}")
        epoch, step = divmod(index % len(self), self._steps)
        # All ranks together take one stretch of the epoch's order in each step.
        stride = self.batch_size * self.dataset.rank[1]
        dataset = self.dataset.epoch(self.dataset.first_epoch + epoch)
        if (step + 1) * stride <= len(dataset):
            batches = dataset[step * stride : (step + 1) * stride].batches(self.batch_size, remainder="drop")
        else:
            # Nothing comes after the last step that would be decoded in vain.
            batches = dataset.batches(self.batch_size, remainder=self.remainder)
            batches.load_state_dict({**batches.state_dict(), "position": step * stride})
        batch = next(batches)
        if not isinstance(batch, tfrmap.Batch):
            return batch
        return {**batch, "valid": batch.valid} if self.remainder == "pad" else dict(batch)

    def __getitems__(self, indices) -> list:
        return [self[index] for index in indices]

    _getitems = __getitems__

    def __repr__(self) -> str:
        return (
            f"Batches(fingerprint={self.dataset.fingerprint}, batch_size={self.batch_size}, epochs={self.epochs}, "
            f"remainder={self.remainder!r}, rank={self.dataset.rank})"
        )
