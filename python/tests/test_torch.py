"""Fear: PyTorch gets copies, repeats, or another order after a checkpoint."""

import os
import subprocess
import sys

import pytest
from conftest import SMALL, ids

import tfrmap

torch = pytest.importorskip("torch", reason="PyTorch is not installed: NOTHING of tfrmap.torch is tested")

from torch.utils.data import DataLoader, DistributedSampler  # noqa: E402

from tfrmap.torch import Dataset, Loader, collate, tensors  # noqa: E402


def test_tensors_share_the_memory(pictures):
    batch = next(tfrmap.open(pictures).features(SMALL).batches(4))
    ready = tensors(batch)
    for tensor in (ready.images, torch.from_dlpack(batch.images)):
        assert tensor.data_ptr() == batch.images.ctypes.data
    assert ready.labels.dtype == torch.int64 and ready.indices is batch.indices
    ready.images[0] = 0
    assert not batch.images[0].any()


@pytest.mark.parametrize("workers", [0, 4])
def test_a_data_loader_sees_every_record_once(numbers, workers):
    ds = tfrmap.open(numbers)
    next(ds.batches(1))  # The fork comes after use.
    for options in ({}, {"collate_fn": collate}):
        loader = DataLoader(Dataset(ds), batch_size=7, shuffle=True, num_workers=workers, **options)
        for _ in range(2):
            assert sorted(ids(loader)) == list(range(40))


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_start_methods(numbers, method):
    loader = DataLoader(Dataset(tfrmap.open(numbers)), batch_size=7, num_workers=2, multiprocessing_context=method)
    assert ids(loader) == ids(tfrmap.open(numbers).batches(40))


def test_a_distributed_sampler_works(numbers):
    dataset = Dataset(tfrmap.open(numbers))
    shares = [
        ids(DataLoader(dataset, batch_size=4, sampler=DistributedSampler(dataset, 2, rank, seed=3)))
        for rank in range(2)
    ]
    assert sorted(shares[0] + shares[1]) == list(range(40))


def test_items_are_rows(pictures):
    dataset = Dataset(tfrmap.open(pictures).features(SMALL), transform=lambda row: int(row["image/class/label"]))
    assert [dataset[i] for i in range(3)] == [0, 2, 4]
    assert dataset.__getitems__([2, 0]) == [4, 0]
    assert len(dataset) == 23


def test_each_iter_is_the_next_epoch(numbers):
    ds = tfrmap.open(numbers).shuffled(1)
    loader = Loader(ds, 6)
    assert len(loader) == 7
    for epoch in range(3):
        assert loader.epoch == epoch
        assert ids(loader) == ids(ds.epoch(epoch).batches(6))
    next(iter(loader))
    assert ids(loader) == ids(ds.epoch(4).batches(6))
    loader.set_epoch(1)
    assert ids(loader) == ids(ds.epoch(1).batches(6))
    assert ids(Loader(ds.epoch(7), 6)) == ids(ds.epoch(7).batches(6))


@pytest.mark.parametrize("remainder", ["keep", "drop", "pad"])
def test_state_is_restored_in_and_between_epochs(numbers, remainder):
    ds = tfrmap.open(numbers).shuffled(1)

    def loader():
        return Loader(ds, 6, remainder=remainder)

    whole = loader()
    per_epoch = len(whole)
    steps = [batch.indices.tolist() for _ in range(2) for batch in whole]
    assert len(steps) == 2 * per_epoch
    for cut in (0, 2, per_epoch - 1, per_epoch, per_epoch + 1):
        first = loader()
        seen = []
        while len(seen) < cut:
            for batch in first:
                seen.append(batch.indices.tolist())
                if len(seen) == cut:
                    break
        again = loader()
        again.load_state_dict(first.state_dict())
        for _ in range(1 if cut >= per_epoch else 2):
            seen.extend(batch.indices.tolist() for batch in again)
        assert seen == steps, cut


def test_workers_of_a_loader_split_the_records(numbers):
    loader = Loader(tfrmap.open(numbers).shuffled(1), 3)
    for workers in (2, 4):
        through = DataLoader(loader, batch_size=None, num_workers=workers)
        assert sorted(ids(through)) == list(range(40))


def test_byte_strings_and_ragged_columns(tmp_path):
    with tfrmap.Writer(tmp_path / "f") as writer:
        for i in range(3):
            writer.write({"n": list(range(i)), "t": f"t{i}"})
    spec = {"n": {"var_len": {"dtype": "int64"}}, "t": {"fixed_len": {"dtype": "bytes"}}}
    (batch,) = Loader(tfrmap.open(tmp_path / "f").features(spec), 3)
    assert batch["t"] == [b"t0", b"t1", b"t2"]
    assert batch["n"].values.tolist() == [0, 0, 1]
    assert [row.tolist() for row in batch["n"].rows()] == [[], [0], [0, 1]]


def test_more_ranks_must_say_what_the_end_is(numbers):
    ds = tfrmap.open(numbers)
    with pytest.raises(ValueError, match="remainder"):
        Loader(ds, 4, rank=0, world_size=2)
    loaders = [Loader(ds.shuffled(1), 4, rank=rank, world_size=3, remainder="pad") for rank in range(3)]
    assert {len(loader) for loader in loaders} == {4}
    rows = [int(i) for loader in loaders for batch in loader for i, ok in zip(batch["id"], batch.valid) if ok]
    assert sorted(rows) == list(range(40))


TRAIN = """
import sys, torch.distributed as dist, tfrmap
from tfrmap.torch import Loader
dist.init_process_group("gloo")
loader = Loader(tfrmap.open(sys.argv[1]).shuffled(3), 3, remainder="drop")
for epoch in range(2):
    mine = [int(i) for batch in loader for i in batch["id"]]
    everyone = [None] * dist.get_world_size()
    dist.all_gather_object(everyone, mine)
    if dist.get_rank() == 0:
        print(sorted(map(len, everyone)), len(set(sum(everyone, []))), flush=True)
dist.destroy_process_group()
"""


def test_torchrun_gives_each_process_its_own_records(numbers, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(TRAIN)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    done = subprocess.run(
        [*command, str(script), numbers], capture_output=True, text=True, timeout=300, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:2] == ["[18, 18] 36"] * 2
