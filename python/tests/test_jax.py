"""Fear: Grain refuses a source, or restores another order; JAX copies."""

import pickle

import numpy as np
import pytest
from conftest import SMALL, ids

import tfrmap
from tfrmap.grain import Batches, Records


def test_sources_keep_the_protocol(numbers):
    ds = tfrmap.open(numbers).shuffled(2)
    records = Records(ds)
    assert len(records) == 40 and records[np.int64(3)] == bytes(ds[3])
    assert records.__getitems__([1, 2]) == [bytes(ds[1]), bytes(ds[2])]
    assert pickle.loads(pickle.dumps(records))[5] == records[5]
    source = Batches(ds, 6, epochs=2)
    assert len(source) == 12
    whole = [batch["id"].tolist() for batch in ds.epochs(2).batches(6, remainder="drop")]
    assert [source[k]["id"].tolist() for k in range(12)] == whole
    assert source[-1]["id"].tolist() == whole[-1]
    with pytest.raises(IndexError):
        source[12]
    kept = Batches(ds.for_rank(1, 3), 4, epochs=2, remainder="keep")
    expected = ds.for_rank(1, 3).epochs(2).batches(4, remainder="keep")
    assert len(kept) == 8
    assert [batch["id"].tolist() for batch in kept] == [batch["id"].tolist() for batch in expected]


@pytest.mark.parametrize("rank", [(0, 1), (0, 3), (2, 3)])
def test_the_last_batch_can_be_filled_up(numbers, rank):
    ds = tfrmap.open(numbers).shuffled(2).for_rank(*rank)
    padded = Batches(ds, 6, epochs=2, remainder="pad")
    expected = list(ds.epochs(2).batches(6, remainder="pad"))
    assert [batch["id"].tolist() for batch in padded] == [batch["id"].tolist() for batch in expected]
    assert [batch["valid"].tolist() for batch in padded] == [batch.valid.tolist() for batch in expected]
    assert not all(batch["valid"].all() for batch in padded)
    with pytest.raises(ValueError, match="pad"):
        Batches(ds, 6, remainder="fill")


def test_the_repr_is_short_and_does_not_name_a_place(numbers, tmp_path):
    import os
    import shutil

    copy = tmp_path / "copy"
    copy.mkdir()
    for path in tfrmap.open(numbers).shards:
        shutil.copy(path, copy)
    for make in (Records, lambda ds: Batches(ds, 4)):
        text = repr(make(tfrmap.open(numbers)))
        assert text == repr(make(tfrmap.open(copy)))
        assert len(text) < 120 and os.sep not in text
        assert text != repr(make(tfrmap.open(numbers).shuffled(1)))


def test_grain_reads_and_restores():
    grain = pytest.importorskip("grain", reason="Grain is not installed: it is NOT tested")
    assert issubclass(Records, grain.sources.RandomAccessDataSource)
    assert issubclass(Batches, grain.sources.RandomAccessDataSource)


def test_grain_pipelines(numbers):
    grain = pytest.importorskip("grain", reason="Grain is not installed: it is NOT tested")
    ds = tfrmap.open(numbers).shuffled(2)
    source = Batches(ds, 6, epochs=2)
    expected = [batch["id"].tolist() for batch in ds.epochs(2).batches(6, remainder="drop")]
    steps = grain.MapDataset.source(source).to_iter_dataset()
    iterator = iter(steps)
    seen = [next(iterator)["id"].tolist() for _ in range(5)]
    state = iterator.get_state()
    again = iter(steps)
    again.set_state(state)
    assert seen + [batch["id"].tolist() for batch in again] == expected
    loader = grain.DataLoader(
        data_source=Records(ds),
        sampler=grain.samplers.IndexSampler(40, shuffle=True, seed=1, num_epochs=1),
        worker_count=0,
    )
    assert sorted(loader) == sorted(bytes(record) for record in ds)


def test_jax_takes_the_memory(pictures):
    jax = pytest.importorskip("jax", reason="JAX is not installed: it is NOT tested")
    batch = next(tfrmap.open(pictures).features(SMALL).batches(4))
    array = jax.dlpack.from_dlpack(batch.images)
    assert array.unsafe_buffer_pointer() == batch.images.ctypes.data
    assert (np.asarray(array) == batch.images).all()
    # Memory that JAX holds is not decoded into again.
    expected = batch.images.copy()
    del batch
    for other in tfrmap.open(pictures).features(SMALL).epochs(9).batches(4):
        other.images[:] = 0
    assert (np.asarray(array) == expected).all()


def test_the_iterator_has_grains_names(numbers):
    ds = tfrmap.open(numbers).shuffled(2)
    batches = ds.batches(4)
    next(batches)
    again = ds.batches(4)
    again.set_state(batches.get_state())
    assert ids(again) == ids(batches)
