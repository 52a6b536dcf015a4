"""Fear: a batch in Python is a copy, is written over later, or holds other values than the file."""

import gc
import os
import pickle
import threading
import time

import numpy as np
import pytest
from conftest import SMALL, ids, picture, png

import tfrmap


def test_columns_are_arrays_over_aligned_memory_of_ours(pictures):
    batch = next(tfrmap.open(pictures).features(SMALL).batches(8))
    images = batch.images
    assert images is batch["image/encoded"]
    assert images.shape == (8, 12, 10, 3) and images.dtype == np.uint8
    assert images.flags.writeable and images.flags.c_contiguous
    assert images.ctypes.data % 64 == 0
    assert isinstance(images.base, tfrmap._native.Buffer)
    assert batch.labels.dtype == np.int64 and batch.labels.shape == (8,)
    assert "<Batch of 8 rows" in repr(batch) and "uint8 [8, 12, 10, 3]" in repr(batch)


DTYPES = ["uint8", "int8", "uint16", "int16", "int32", "int64", "float16", "float32", "float64", "bool", "complex64", "complex128"]


def test_every_column_of_numbers_begins_at_a_cache_line(tmp_path):
    """Libraries that need that copy the array otherwise (JAX), or crash."""
    numbers = np.arange(5) % 2
    with tfrmap.Writer(tmp_path / "f") as writer:
        for i in range(9):
            raw = {dtype: numbers.astype(dtype).tobytes() for dtype in DTYPES}
            writer.write({"n": list(range(i)), "f": [0.5] * i, "x": png(picture(1)), **raw})
    spec = {dtype: {"decode_raw": {"dtype": dtype, "shape": [5]}} for dtype in DTYPES}
    spec["n"] = {"var_len": {"dtype": "int64"}}
    spec["f"] = {"padded": {"dtype": "float32"}}
    spec["x"] = {"image": {"size": None, "dtype": "uint8"}}
    for batch in tfrmap.open(tmp_path / "f").features(spec).epochs(5).batches(3):
        for key, column in batch.items():
            values = column.values if key == "n" else column
            assert values.size == 0 or values.ctypes.data % 64 == 0, key
            if key in DTYPES:
                assert values.dtype == key and (values == numbers.astype(key)).all(), key


def test_other_libraries_take_the_memory(pictures):
    """By DLPack, as `torch.from_dlpack` and `jax.dlpack.from_dlpack` do, and without a copy."""
    batch = next(tfrmap.open(pictures).features(SMALL).batches(5))
    for array in (batch.images, batch.labels):
        assert array.ctypes.data % 64 == 0
        taken = np.from_dlpack(array)
        assert taken.ctypes.data == array.ctypes.data and taken.dtype == array.dtype
        assert array.__dlpack_device__() == (1, 0)
    images, expected = np.from_dlpack(batch.images), batch.images.copy()
    del batch, array, taken
    gc.collect()
    for other in tfrmap.open(pictures).features(SMALL).epochs(9).batches(5):
        other.images[:] = 0
    assert (images == expected).all()


def test_rows_hold_what_was_written(pictures):
    ds = tfrmap.open(pictures).features(SMALL).shuffled(4)
    for batch in ds.batches(8):
        for row, (shard, record) in enumerate(batch.sources):
            # Records went to the two shards in turn.
            number = int(record) * 2 + int(shard)
            assert (batch.images[row] == picture(number)).all()
            assert batch.labels[row] == number % 5


def test_inference_needs_no_spec(pictures):
    ds = tfrmap.open(pictures)
    batch = next(ds.batches(5))
    assert batch.images.shape == (5, 224, 224, 3) and batch.images.dtype == np.float32
    assert 0 <= batch.images.min() and batch.images.max() <= 1
    assert batch.labels.tolist() == [0, 2, 4, 1, 3]
    spec = ds.features()
    assert spec["image/encoded"]["image"]["size"] == [224, 224]
    again = next(ds.features(spec).batches(5))
    assert (again.images == batch.images).all()


def test_memory_is_never_used_again_while_a_view_lives(pictures):
    ds = tfrmap.open(pictures).features(SMALL).epochs(30)
    kept = []
    for batch in ds.batches(8, prefetch=4):
        kept.append((batch.images[1:2], batch.images[1].copy()))
    del batch, ds
    gc.collect()
    assert all((view[0] == copy).all() for view, copy in kept)
    kept[0][0][:] = 7
    assert (kept[1][0][0] == kept[1][1]).all()


def test_ragged_padded_and_byte_columns(tmp_path):
    path = tmp_path / "f"
    with tfrmap.Writer(path) as writer:
        for i in range(3):
            writer.write({"n": list(range(i)), "b": [b"x"] * i, "t": f"t{i}", "f": [float(i)] * 4})
    ds = tfrmap.open(path).features({
        "n": {"var_len": {"dtype": "int64"}},
        "b": {"var_len": {"dtype": "bytes"}},
        "t": {"fixed_len": {"dtype": "bytes", "shape": []}},
        "f": {"fixed_len": {"dtype": "float32", "shape": [2, 2]}},
    })
    batch = next(ds.batches(3))
    values, row_lengths = batch["n"]
    assert values.tolist() == [0, 0, 1] and row_lengths.tolist() == [0, 1, 2]
    assert [row.tolist() for row in batch["n"].rows()] == [[], [0], [0, 1]]
    assert batch["b"].values.tolist() == [b"x"] * 3
    assert batch["t"].tolist() == [b"t0", b"t1", b"t2"]
    assert batch["f"].shape == (3, 2, 2)
    padded = next(ds.features({"n": {"padded": {"dtype": "int64", "default_value": -1}}}).batches(3))
    assert padded["n"].tolist() == [[-1, -1], [0, -1], [0, 1]]
    assert padded.lengths["n"].tolist() == [0, 1, 2]
    rows = batch.rows()
    assert rows[2]["n"].tolist() == [0, 1] and rows[2]["t"] == b"t2"


def test_raw_records_are_bytes(numbers):
    batch = next(tfrmap.open(numbers).features({"record": "raw"}).batches(3))
    assert batch["record"].tolist() == [bytes(tfrmap.open(numbers)[i]) for i in range(3)]


class FixedLenFeature:
    """As TensorFlow's, by its fields."""

    def __init__(self, shape, dtype, default_value=None):
        self.shape, self.dtype, self.default_value = shape, dtype, default_value


class VarLenFeature:
    def __init__(self, dtype):
        self.dtype = dtype


class DType:
    def __init__(self, name):
        self.name = name


def test_tensorflow_features_are_understood(numbers):
    ds = tfrmap.open(numbers).features({
        "id": FixedLenFeature([], DType("int64")),
        "label": VarLenFeature(DType("int64")),
        "absent": FixedLenFeature((2,), DType("string"), [b"a", b"\xff"]),
        "other": FixedLenFeature([], np.float32, np.float32(1.5)),
    })
    ds = pickle.loads(pickle.dumps(ds))
    batch = next(ds.batches(2))
    assert batch["absent"].tolist() == [[b"a", b"\xff"]] * 2
    assert batch["other"].tolist() == [1.5, 1.5]
    assert batch["label"].row_lengths.tolist() == [1, 1]
    with pytest.raises(TypeError, match="object"):
        ds.features({"id": object()})
    with pytest.raises(tfrmap.ArgumentError, match="nonsense"):
        ds.features({"id": {"nonsense": {}}})


def test_the_real_features_of_tensorflow_are_understood(tmp_path):
    tf = pytest.importorskip("tensorflow", reason="TensorFlow is not installed: its own objects are NOT tested")
    example = tf.train.Example(features=tf.train.Features(feature={
        "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[7])),
        "box": tf.train.Feature(float_list=tf.train.FloatList(value=[0.25, 0.5, 0.75, 1])),
        "ids": tf.train.Feature(int64_list=tf.train.Int64List(value=[3, 1, 2])),
        "text": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"cat"])),
    }))
    path = str(tmp_path / "f")
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(example.SerializeToString())
    features = {
        "label": tf.io.FixedLenFeature([], tf.int64),
        "box": tf.io.FixedLenFeature([2, 2], tf.float32),
        "text": tf.io.FixedLenFeature([], tf.string, default_value="none"),
        "absent": tf.io.FixedLenFeature([], tf.string, default_value="none"),
        "filled": tf.io.FixedLenFeature([2], tf.float32, default_value=np.array([1.5, 2.5], np.float32)),
        "ids": tf.io.VarLenFeature(tf.int64),
    }
    batch = next(tfrmap.open(path).features(features).batches(1))
    parsed = tf.io.parse_example([example.SerializeToString()], features)
    for key in ("label", "box", "text", "absent", "filled"):
        assert (batch[key] == parsed[key].numpy()).all(), key
        assert batch[key].shape == parsed[key].shape
    assert batch["ids"].values.tolist() == parsed["ids"].values.numpy().tolist()
    sequences = {
        "ids": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
        "box": tf.io.RaggedFeature(tf.float32),
    }
    batch = next(tfrmap.open(path).features(sequences).batches(1))
    assert batch["ids"].tolist() == tf.io.parse_example([example.SerializeToString()], sequences)["ids"].numpy().tolist()
    assert batch["box"].values.tolist() == [0.25, 0.5, 0.75, 1]
    with pytest.raises(TypeError, match="SparseFeature"):
        tfrmap.open(path).features({"x": tf.io.SparseFeature("i", "v", tf.int64, 3)})


def test_map_is_called_on_each_batch_and_its_errors_pass(numbers):
    ds = tfrmap.open(numbers).map(lambda batch: batch["id"] * 2).map(lambda twice: twice.tolist())
    assert sorted(sum(ds.batches(9), [])) == [2 * i for i in range(40)]
    with pytest.raises(ZeroDivisionError):
        next(tfrmap.open(numbers).map(lambda batch: 1 / 0).batches(2))


def test_read_gives_the_rows_asked_for(numbers):
    ds = tfrmap.open(numbers).shuffled(1)
    order = ids(ds.batches(40))
    assert ds.read([5, -1, 5])["id"].tolist() == [order[5], order[-1], order[5]]
    with pytest.raises(IndexError):
        ds.read([40])


def test_a_batch_can_be_pickled(pictures):
    batch = next(tfrmap.open(pictures).features(SMALL).batches(3))
    again = pickle.loads(pickle.dumps(batch))
    assert (again.images == batch.images).all() and (again.indices == batch.indices).all()
    assert again.labels.tolist() == batch.labels.tolist()


def test_threads_do_not_need_the_gil(pictures):
    """While one thread waits for a batch another one must be able to run Python."""
    counted = 0
    done = False

    def count():
        nonlocal counted
        while not done:
            counted += 1
            time.sleep(0)

    thread = threading.Thread(target=count)
    thread.start()
    for _ in tfrmap.open(pictures).epochs(20).batches(8):
        pass
    done = True
    thread.join()
    assert counted > 100


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="no /proc")
def test_memory_stays_flat_over_50_epochs(pictures):
    ds = tfrmap.open(pictures).shuffled(1)
    spec = {"image/encoded": {"image": {"size": [128, 128]}}}
    sizes = []
    for epoch, batch in enumerate(ds.features(spec).epochs(50).batches(23)):
        assert batch.images.shape[0] == 23
        if epoch % 10 == 9:
            sizes.append(resident())
    assert sizes[-1] < sizes[0] * 1.02 + (8 << 20), sizes


def test_png_helper_is_lossless(tmp_path):
    with tfrmap.Writer(tmp_path / "f") as writer:
        writer.write({"x": png(picture(3, 5, 7))})
    ds = tfrmap.open(tmp_path / "f").features({"x": {"image": {"size": None, "dtype": "uint8"}}})
    assert (next(ds.batches(1)).images[0] == picture(3, 5, 7)).all()
