"""Fear: an epoch repeats or loses records: through verbs, ranks, threads, resume, pickle, spawn or fork."""

import multiprocessing
import os
import pickle
import threading

import pytest
from conftest import ids

import tfrmap


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("size", [1, 3, 40, 2**40])
def test_an_epoch_has_each_record_once_whatever_the_threads(numbers, threads, size):
    ds = tfrmap.open(numbers).shuffled(5)
    seen = ids(ds.batches(size, threads=threads))
    assert sorted(seen) == list(range(40))
    assert seen == ids(ds.batches(4, threads=1))


def test_epochs_differ_and_can_be_entered_anywhere(numbers):
    ds = tfrmap.open(numbers).shuffled(5)
    epochs = ids(ds.epochs(4).batches(8))
    each = [epochs[40 * e : 40 * (e + 1)] for e in range(4)]
    assert len({tuple(epoch) for epoch in each}) == 4
    assert ids(ds.epoch(3).batches(8)) == each[3]
    assert ids(ds.epochs(range(2, 4)).batches(8)) == each[2] + each[3]
    endless = iter(ds.epochs().batches(40))
    assert [ids([next(endless)]) for _ in range(4)] == each
    with pytest.raises(ValueError, match="step"):
        ds.epochs(range(0, 4, 2))


def test_verbs_apply_from_left_to_right(numbers):
    ds = tfrmap.open(numbers)
    plain = ids(ds.batches(40))
    assert ids(ds[5:9].batches(40)) == plain[5:9]
    assert ids(ds[::-3].batches(40)) == plain[::-3]
    assert ids(ds[9:2].batches(40)) == []
    assert ids(ds[[3, 1, -1]].batches(40)) == [plain[3], plain[1], plain[-1]]
    assert ids(ds.skip(10).take(5).batches(40)) == plain[10:15]
    assert ids(ds.take(3).concat(ds.skip(38)).batches(40)) == plain[:3] + plain[38:]
    assert sorted(ids(ds.take(10).shuffled(1).batches(40))) == sorted(plain[:10])
    shuffled = ids(ds.shuffled(1).batches(40))
    assert ids(ds.shuffled(1)[:10].batches(40)) == shuffled[:10]
    assert [int(ds.shuffled(1)[i].example()["id"][0]) for i in range(40)] == shuffled
    with pytest.raises(IndexError, match="40"):
        ds.select([40])
    assert "shuffled(1)" in repr(ds.shuffled(1)) and "40 records in 3 files" in repr(ds)


@pytest.mark.parametrize(("remainder", "sizes"), [("keep", [4, 4, 2]), ("drop", [4, 4]), ("pad", [4, 4, 4])])
def test_the_end_of_an_epoch_is_as_asked(numbers, remainder, sizes):
    batches = list(tfrmap.open(numbers).take(10).batches(4, remainder=remainder))
    assert [len(batch["id"]) for batch in batches] == sizes
    assert sum(int(batch.valid.sum()) for batch in batches) == (8 if remainder == "drop" else 10)


@pytest.mark.parametrize("size", [0, -1])
def test_sizes_that_make_no_sense_are_refused(numbers, size):
    with pytest.raises(ValueError):
        list(tfrmap.open(numbers).batches(size))


def test_ranks_share_one_order(numbers, monkeypatch):
    ds = tfrmap.open(numbers).shuffled(2)
    whole = ids(ds.batches(40))
    shares = [list(ds.for_rank(rank, 3).batches(4, remainder="pad")) for rank in range(3)]
    assert {len(share) for share in shares} == {4}
    for step in range(4):
        rows = [share[step] for share in shares]
        merged = [int(batch["id"][row]) for row in range(4) for batch in rows if batch.valid[row]]
        assert merged == whole[step * 12 : step * 12 + 12]
    with pytest.raises(ValueError, match="remainder"):
        list(ds.for_rank(0, 3).batches(4))
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "3")
    assert ds.for_rank_from_env().rank == (1, 3)
    monkeypatch.delenv("RANK")
    with pytest.raises(tfrmap.ArgumentError, match="WORLD_SIZE"):
        ds.for_rank_from_env()


def test_resume_goes_on_where_the_loop_was(numbers):
    ds = tfrmap.open(numbers).shuffled(9).epochs(2)
    whole = ids(ds.batches(6))
    batches = ds.batches(6, prefetch=4)
    first = ids(next(batches) for _ in range(3))
    state = pickle.loads(pickle.dumps(batches.state_dict()))
    again = ds.batches(6, threads=1)
    again.load_state_dict(state)
    assert first + ids(again) == whole
    with pytest.raises(tfrmap.Error, match="seed"):
        tfrmap.open(numbers).shuffled(8).batches(6).load_state_dict(state)
    with pytest.raises(tfrmap.Error, match="state"):
        ds.batches(6).load_state_dict({"nonsense": 1})


def run(method, target, *args):
    context = multiprocessing.get_context(method)
    queue = context.SimpleQueue()
    process = context.Process(target=target, args=(queue, *args))
    process.start()
    answer = queue.get()
    process.join(30)
    assert process.exitcode == 0
    return answer


def read(queue, ds):
    queue.put((ids(ds.batches(7)), [int(ds[i].example()["id"][0]) for i in range(3)]))


def go_on(queue, batches):
    queue.put(ids(batches))


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_another_process_reads_the_same(numbers, method):
    ds = tfrmap.open(numbers).shuffled(3)[5:35].features({"id": {"fixed_len": {"dtype": "int64"}}})
    here = ids(ds.batches(7))
    assert run(method, read, ds)[0] == here


def test_a_fork_in_the_middle_of_a_loop_goes_on_in_both(numbers):
    batches = tfrmap.open(numbers).shuffled(3).epochs(3).batches(4, prefetch=8)
    next(batches)
    child = run("fork", go_on, batches)
    assert ids(batches) == child


def test_pickled_paths_do_not_depend_on_the_working_directory(numbers, monkeypatch, tmp_path):
    monkeypatch.chdir(os.path.dirname(numbers))
    pickled = pickle.dumps(tfrmap.open(os.path.basename(numbers)))
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert len(pickle.loads(pickled)) == 40


def test_threads_that_share_an_iterator_get_each_batch_once(numbers):
    batches = tfrmap.open(numbers).epochs(20).batches(1)
    seen = [[] for _ in range(4)]

    def work(mine):
        mine.extend(ids(batches))

    threads = [threading.Thread(target=work, args=(mine,)) for mine in seen]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(sum(seen, [])) == sorted(list(range(40)) * 20)
