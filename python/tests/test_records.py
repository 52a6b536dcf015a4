"""Fear: a record read from Python is not the bytes that were written, or does not live as long as its views."""

import gc
import os
import pickle

import numpy as np
import pytest

import tfrmap


def test_records_come_back_by_position(tmp_path):
    path = tmp_path / "raw.tfrecord"
    payloads = [bytes([i]) * (i * 100) for i in range(10)]
    with tfrmap.Writer(path) as writer:
        for payload in payloads:
            writer.write(payload)
    ds = tfrmap.open(path)
    assert len(ds) == 10
    assert [bytes(ds[i]) for i in range(10)] == payloads
    assert bytes(ds[-1]) == payloads[-1]
    assert [bytes(record) for record in ds] == payloads
    assert bytes(ds[np.int64(3)]) == payloads[3]
    assert len(ds[7]) == 700
    for position in (10, -11, 2**62):
        with pytest.raises(IndexError, match="10"):
            ds[position]


def test_a_record_is_read_only_and_outlives_everything(tmp_path):
    path = tmp_path / "raw.tfrecord"
    with tfrmap.Writer(path) as writer:
        writer.write(b"x" * 100_000)
    view = tfrmap.open(path)[0].data
    os.unlink(path)
    gc.collect()
    assert view.readonly and view.nbytes == 100_000
    assert bytes(view) == b"x" * 100_000
    assert not np.frombuffer(view, np.uint8).flags.writeable
    with pytest.raises(TypeError):
        view[0] = 1


def test_a_record_says_where_it_lies(numbers):
    ds = tfrmap.open(numbers)
    record = ds[3]
    assert record.path == ds.shards[0] and record.index == 3
    assert record.offset == sum(len(ds[i]) + 16 for i in range(3))
    assert "Record 3 of" in repr(record)
    assert pickle.loads(pickle.dumps(record)) == bytes(record)


def test_an_example_is_a_dict_of_arrays(tmp_path):
    path = tmp_path / "one.tfrecord"
    values = {
        "int": 7,
        "ints": np.arange(3, dtype=np.uint8),
        "negative": [-1, -(2**63)],
        "float": 0.5,
        "floats": np.array([[1, 2], [3, 4]], np.float64),
        "mixed": [1, 2.5],
        "bool": True,
        "text": "grün",
        "bytes": b"\x00\xff",
        "many": ["a", b"bc"],
        "strings": np.array(["x", "yz"]),
        "scalar": np.float32(2.5),
        b"\xff\x00": 1,
    }
    with tfrmap.Writer(path) as writer:
        writer.write(values)
    example = tfrmap.open(path)[0].example()
    assert set(example) == set(values)
    assert example["int"].dtype == np.int64 and example["int"].tolist() == [7]
    assert example["ints"].tolist() == [0, 1, 2]
    assert example["negative"].tolist() == [-1, -(2**63)]
    assert example["float"].dtype == np.float32 and example["float"].tolist() == [0.5]
    assert example["floats"].tolist() == [1, 2, 3, 4]
    assert example["mixed"].tolist() == [1, 2.5]
    assert example["bool"].tolist() == [1]
    assert example["text"].tolist() == ["grün".encode()]
    assert example["bytes"].tolist() == [b"\x00\xff"]
    assert example["many"].tolist() == [b"a", b"bc"]
    assert example["strings"].tolist() == [b"x", b"yz"]
    assert example["scalar"].tolist() == [2.5]
    assert example[b"\xff\x00"].tolist() == [1]


@pytest.mark.parametrize(
    ("value", "error"),
    [({}, TypeError), (None, TypeError), (2**63, OverflowError), ([1, b"x"], TypeError), (1j, TypeError)],
)
def test_values_that_no_feature_can_hold_are_named(tmp_path, value, error):
    with tfrmap.Writer(tmp_path / "f") as writer:
        with pytest.raises(error, match="the_key"):
            writer.write({"the_key": value})
        writer.write(b"")


def test_a_writer_leaves_all_or_nothing(tmp_path):
    with pytest.raises(RuntimeError), tfrmap.Writer(tmp_path / "half") as writer:
        writer.write(b"x")
        raise RuntimeError
    assert not [name for name in os.listdir(tmp_path) if not name.startswith(".")]
    with tfrmap.Writer(tmp_path / "whole") as writer:
        writer.write(memoryview(b"x"))
        assert writer.records == 1
    assert writer.close() == [str(tmp_path / "whole")]
    assert writer.records == 1
    with pytest.raises(ValueError, match="closed"):
        writer.write(b"y")
    with pytest.raises(tfrmap.FileError):
        tfrmap.Writer(tmp_path / "whole")
    with tfrmap.Writer(tmp_path / "whole", append=True) as writer:
        writer.write(b"z")
    assert [bytes(record) for record in tfrmap.open(tmp_path / "whole")] == [b"x", b"z"]


def test_an_index_can_be_built_and_is_used(tmp_path, numbers):
    for report in tfrmap.index(numbers):
        assert report["status"] == "fresh" and report["records"] in (13, 14)
    reports = tfrmap.index(numbers, index_dir=tmp_path / "elsewhere", check=True)
    assert [report["status"] for report in reports] == ["built"] * 3
    assert len(tfrmap.open(numbers, index_dir=tmp_path / "elsewhere", missing_index="fail")) == 40
    with pytest.raises(tfrmap.NotFoundError):
        tfrmap.open(numbers, index_dir=tmp_path / "nowhere", missing_index="fail")
    with pytest.raises(ValueError, match="in_memory"):
        tfrmap.open(numbers, missing_index="maybe")


def test_a_payload_that_is_no_example_says_where_it_lies(tmp_path):
    path = tmp_path / "odd"
    with tfrmap.Writer(path) as writer:
        writer.write(b"good"[:0])
        writer.write(b"raw")
    record = tfrmap.open(path)[1]
    for parse in (record.example, record.sequence_example):
        with pytest.raises(tfrmap.CorruptionError) as caught:
            parse()
        assert str(caught.value).startswith(f"{path}: record 1 at byte 16: malformed protocol buffer")
        assert (caught.value.path, caught.value.record, caught.value.offset) == (str(path), 1, 16)


def test_text_that_is_no_unicode_names_its_feature(tmp_path):
    with tfrmap.Writer(tmp_path / "x") as writer:
        with pytest.raises(ValueError, match='feature "name": .*surrogates not allowed'):
            writer.write({"name": "\udcff"})
        with pytest.raises(ValueError, match="surrogates not allowed"):
            writer.write({"name": ["a", "\udcff"]})
