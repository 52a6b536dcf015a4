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


def through(loader, workers, **options):
    return DataLoader(loader, batch_size=None, num_workers=workers, **options)


def orders(loader, passes):
    """For each pass the records in the order of the epoch that they belong to, and that epoch."""
    seen = []
    for _ in range(passes):
        batches = list(loader)
        (epoch,) = {batch.epoch for batch in batches}
        seen.append((epoch, sorted(ids(batches))))
    return seen


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize("persistent", [False, True])
def test_workers_of_a_loader_read_one_epoch_after_the_other(numbers, method, persistent):
    loader = Loader(tfrmap.open(numbers).shuffled(1), 3)
    options = {"multiprocessing_context": method, "persistent_workers": persistent}
    each = [(epoch, list(range(40))) for epoch in range(7)]
    assert orders(through(loader, 2, **options), 3) == each[:3]
    # Left in the middle, then other workers, then this process.
    next(iter(through(loader, 2, **options)))
    assert orders(through(loader, 4, **options), 1) == each[4:5]
    assert orders(loader, 1) == each[5:6]
    assert loader.epoch == 6
    assert orders(through(loader, 2, **options), 1) == each[6:7]
    loader.set_epoch(2)
    assert orders(through(loader, 2, **options), 2) == each[2:4]


def test_two_data_loaders_over_one_loader_do_not_mix_epochs(numbers):
    loader = Loader(tfrmap.open(numbers).shuffled(1), 3)
    pairs = list(zip(through(loader, 2), through(loader, 2), strict=True))
    for side in range(2):
        assert len({pair[side].epoch for pair in pairs}) == 1
        assert sorted(ids(pair[side] for pair in pairs)) == list(range(40))
    assert pairs[0][0].epoch != pairs[0][1].epoch


def test_workers_go_on_from_a_state_and_then_with_the_next_epoch(numbers):
    ds = tfrmap.open(numbers).shuffled(1)
    first = Loader(ds.epoch(3), 4)
    batches = iter(first)
    begun = ids(next(batches) for _ in range(3))
    again = Loader(ds, 2)
    again.load_state_dict(first.state_dict())
    rest, whole = orders(through(again, 2), 2)
    assert (rest[0], sorted(begun + rest[1])) == (3, list(range(40)))
    assert whole == (4, list(range(40)))


def rank_with_workers(rank, loader, queue):
    passes = orders(through(loader, 2), 2)
    loader.set_epoch(5)
    queue.put((rank, passes + orders(through(loader, 2), 1)))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_ranks_that_got_one_loader_count_each_for_itself(numbers, method):
    """Else the ranks read parts of different epochs."""
    import pickle

    context = torch.multiprocessing.get_context(method)
    queue = context.SimpleQueue()
    loaders = [
        pickle.loads(pickle.dumps(Loader(tfrmap.open(numbers).shuffled(1), 2, rank=rank, world_size=2, remainder="drop")))
        for rank in range(2)
    ]
    processes = [context.Process(target=rank_with_workers, args=(rank, loaders[rank], queue)) for rank in range(2)]
    for process in processes:
        process.start()
    answers = dict(queue.get() for _ in processes)
    for process in processes:
        process.join(60)
    for epoch in range(3):
        (one, mine), (two, theirs) = answers[0][epoch], answers[1][epoch]
        assert one == two and not set(mine) & set(theirs)
    assert answers[0][2][0] == 5


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


@pytest.mark.parametrize("state", [{}, {"epoch": "1"}, None])
def test_what_is_no_state_is_refused_with_a_reason(numbers, state):
    with pytest.raises(tfrmap.Error, match="state"):
        Loader(tfrmap.open(numbers), 6).load_state_dict(state)
