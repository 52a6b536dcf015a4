"""PyTorch: batches of tensors that share the memory they were decoded into.

`Loader` is the short way: ready batches from threads of this process. `Dataset` is for code that wants a map-style data set and
its own `DataLoader`.
"""

from __future__ import annotations

import torch
import torch.utils.data

import tfrmap
from tfrmap._batch import Batch, Ragged
from tfrmap._passes import Passes

__all__ = ["Dataset", "Loader", "collate", "tensors"]


def tensors(batch: Batch, *, pin_memory: bool = False) -> Batch:
    """The batch with a tensor for each array, without a copy (with one where memory is pinned).

    Byte strings, for which there is no tensor, become lists of `bytes`.
    """
    return batch.with_columns({key: _tensor(column, pin_memory) for key, column in batch.items()})


def _tensor(column, pin_memory):
    if isinstance(column, Ragged):
        return Ragged(_tensor(column.values, pin_memory), _tensor(column.row_lengths, pin_memory))
    if column.dtype == object:
        return column.tolist()
    tensor = torch.from_numpy(column)
    return tensor.pin_memory() if pin_memory else tensor


class _Rows(list):
    """Rows for any collate function, and for `collate` the batch that they are views of."""

    def __init__(self, batch):
        super().__init__(batch.rows())
        self.batch = batch


def collate(rows) -> Batch:
    """For `DataLoader(Dataset(..), collate_fn=tfrmap.torch.collate)`: the batch as it was decoded, without a copy."""
    return tensors(rows.batch)


class Dataset(torch.utils.data.Dataset):
    """A data set of map style: item `i` is a dict of the columns of one row, decoded.

    A `DataLoader` asks for the rows of a batch together (`__getitems__`), and they are decoded together by threads. Order,
    epochs and ranks are those of its sampler; for a shuffle of this package use `Loader`.
    """

    def __init__(self, dataset: tfrmap.Dataset, transform=None):
        self.dataset = dataset
        self.transform = transform

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index):
        return self.__getitems__([index])[0]

    def __getitems__(self, indices):
        rows = _Rows(self.dataset.read([int(index) for index in indices]))
        if self.transform is not None:
            return [self.transform(row) for row in rows]
        return rows

    def __repr__(self):
        return f"tfrmap.torch.Dataset({self.dataset!r})"


class Loader(torch.utils.data.IterableDataset):
    """An iterable of ready batches of tensors, decoded ahead by threads: no worker processes.

    Each `iter()` reads the next epoch, from the data set's own first one on (`set_epoch` chooses another); the threads run on
    from one epoch to the next. Under torchrun, SLURM or MPI every process reads its own share unless `rank` and `world_size` are
    given; `remainder` ("drop" or "pad") must then say what happens at the end of an epoch, and all ranks get the same number
    of batches.

    `state_dict` and `load_state_dict` save and restore the exact place, in the middle of an epoch too, for any number of
    ranks. In worker processes of a `DataLoader(loader, batch_size=None, num_workers=4)` each worker reads its own part of the
    epoch; there the place within it is known to the workers only.
    """

    def __init__(
        self,
        dataset: tfrmap.Dataset,
        batch_size: int,
        *,
        remainder: str | None = None,
        on_error: str = "stop",
        error_limit: int = 100,
        prefetch: int | None = None,
        threads: int | None = None,
        rank: int | None = None,
        world_size: int | None = None,
        pin_memory: bool = False,
    ):
        if (rank is None) != (world_size is None):
            raise tfrmap.ArgumentError("rank and world_size go together")
        if rank is not None:
            dataset = dataset.for_rank(rank, world_size)
        elif dataset.rank == (0, 1):
            dataset = dataset.for_rank_from_env()
        self.dataset = dataset
        self.batch_size = batch_size
        self.pin_memory = pin_memory
        self._options = {
            "remainder": remainder,
            "on_error": on_error,
            "error_limit": error_limit,
            "prefetch": prefetch,
            "threads": threads,
        }
        self._epoch = dataset.first_epoch
        self._begun = False
        self._passes = Passes(self._epoch)
        # By worker processes that live on from one pass to the next.
        self._passes_in_worker = 0
        # The batches, for one of several workers, or where they are to go on.
        self._run = None
        self._share = None
        self._state = None
        self._length = self._start((0, 1)).steps_per_epoch

    def __len__(self) -> int:
        """The number of batches of a whole epoch on this rank."""
        return self._length

    @property
    def epoch(self) -> int:
        """The epoch that is being read, or comes next (with worker processes: that was begun last)."""
        return max(self._epoch, self._passes.next - 1) if self._passes.is_mine else self._epoch

    def set_epoch(self, epoch: int) -> None:
        """The epoch that the next `iter()` reads, from its start."""
        self._go_to(epoch)
        self._count_here().next = epoch

    def _go_to(self, epoch):
        self._epoch = epoch
        self._begun = False
        self._run = self._state = None

    def _count_here(self):
        """The count of passes of this process and its workers."""
        if not self._passes.is_mine:
            self._passes = Passes(self._epoch + self._begun)
        return self._passes

    def __iter__(self):
        worker = torch.utils.data.get_worker_info()
        if worker is None:
            epoch = self._count_here().take()
        else:
            epoch = self._passes.take_in_worker(worker, self._passes_in_worker)
            self._passes_in_worker += 1
        if epoch is None:
            epoch = self._epoch + self._begun
        if self._begun or epoch != self._epoch:
            # The epoch before was left, or this process has not seen it.
            self._go_to(epoch)
        run = self._batches()
        self._begun = True
        return self._read(run)

    def _read(self, run):
        # At the end of an epoch the same run goes on with the next one.
        for _ in range(run.steps_left or run.steps_per_epoch):
            batch = next(run)
            yield tensors(batch, pin_memory=self.pin_memory) if isinstance(batch, Batch) else batch
        if run is self._run:
            self._epoch += 1
            self._begun = False

    def _batches(self):
        worker = torch.utils.data.get_worker_info()
        share = (worker.id, worker.num_workers) if worker else (0, 1)
        if self._run is None or self._share != share:
            state = self._state if self._run is None else self._run.state_dict()
            self._run = self._start(share)
            self._share = share
            self._state = None
            # The state of an epoch that was read to its end is that of the next one's start.
            if state is not None and state["epoch"] == self._epoch:
                self._run.load_state_dict(state)
        return self._run

    def _start(self, share):
        """A run from the start of the epoch, of one of several worker processes of this rank."""
        worker, workers = share
        rank, world_size = self.dataset.rank
        dataset = self.dataset.epochs(range(self._epoch, 2**63))
        options = dict(self._options)
        if workers > 1:
            dataset = dataset.for_rank(rank * workers + worker, world_size * workers)
        if world_size == 1 and options["remainder"] is None:
            # Workers of one rank may be uneven.
            options["remainder"] = "keep"
        return dataset.batches(self.batch_size, **options)

    def state_dict(self) -> dict:
        """Where the loop stands: what it has received. A small dict, the same on every rank."""
        return self._batches().state_dict()

    def load_state_dict(self, state: dict) -> None:
        """Goes on from a state: the next `iter()` gives the rest of its epoch, or the epoch after it where none is left."""
        if not isinstance(state, dict) or not isinstance(state.get("epoch"), int):
            # Says what is wrong with it.
            self._batches().load_state_dict(state)
        self.set_epoch(state["epoch"])
        self._state = state
        if self._batches().steps_left == 0:
            self._epoch += 1
            self._passes.next = self._epoch

    def __getstate__(self):
        self._count_here()
        state = self._state if self._run is None else self._run.state_dict()
        return {**self.__dict__, "_run": None, "_share": None, "_state": state}

    def __repr__(self):
        return f"tfrmap.torch.Loader({self.dataset!r}, batch_size={self.batch_size})"
