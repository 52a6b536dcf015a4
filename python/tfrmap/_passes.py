"""Which epoch a pass over `tfrmap.torch.Loader` reads, in worker processes too."""

from __future__ import annotations

import multiprocessing.context
import os
import time

import torch

_SLOTS = 256
_EPOCH_BITS = 40
_TAG_BITS = 22
_PATIENCE = 60.0


class Passes:
    """Counts the passes over a loader, in memory that is shared with the workers of a `DataLoader`.

    A `DataLoader` starts its workers anew for each pass, from the loader as it is in their parent, which is not told. So
    worker 0 takes the next epoch and writes down, under the seed that the workers of one pass have in common, which one it
    was; the others wait for that.
    """

    def __init__(self, epoch: int, owner: int | None = None, memory=None):
        self.owner = os.getpid() if owner is None else owner
        # The next epoch, then for passes of workers a tag of the pass and its epoch.
        self._memory = torch.zeros(1 + _SLOTS, dtype=torch.int64).share_memory_() if memory is None else memory
        if memory is None:
            self.next = epoch

    @property
    def next(self) -> int:
        """The epoch of the next pass."""
        return int(self._memory[0])

    @next.setter
    def next(self, epoch: int) -> None:
        self._memory[0] = epoch

    @property
    def is_mine(self) -> bool:
        """Whether this process began the count: another one that got a copy counts by itself."""
        return self.owner == os.getpid()

    def take(self) -> int:
        """The epoch of a pass that begins in this process."""
        epoch = self.next
        self.next = epoch + 1
        return epoch

    def take_in_worker(self, worker, passes_before: int) -> int | None:
        """The epoch of the pass that a worker begins, its `passes_before`-th one; None where the count is not its parent's."""
        if self.owner != os.getppid():
            return None
        key = hash((worker.seed - worker.id, passes_before))
        slot = 1 + key % _SLOTS
        tag = key // _SLOTS % 2**_TAG_BITS | 1
        found = self._look(slot, tag)
        if found is None and worker.id == 0:
            found = self.take()
            self._memory[slot] = tag << _EPOCH_BITS | found
        deadline = time.monotonic() + _PATIENCE
        while found is None:
            if self.owner != os.getppid() or time.monotonic() > deadline:
                raise RuntimeError("the first worker process of the DataLoader did not begin the epoch")
            time.sleep(0.001)
            found = self._look(slot, tag)
        return found

    def _look(self, slot, tag):
        word = int(self._memory[slot])
        return word % 2**_EPOCH_BITS if word >> _EPOCH_BITS == tag else None

    def __reduce__(self):
        if multiprocessing.context.get_spawning_popen() is None:
            return (Passes, (self.next,))
        return (Passes, (0, self.owner, self._memory))
