"""Fear: something goes wrong and Python is told too little, the wrong thing, or nothing."""

import gzip
import os
import pickle
import signal
import subprocess
import sys
import time

import pytest
from conftest import SMALL, ids, picture, png

import tfrmap


def flip(path, offset):
    with open(path, "r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 0xFF]))


def test_a_corrupt_record_says_where_it_lies(numbers):
    ds = tfrmap.open(numbers)
    path, offset = ds.shards[0], ds[2].offset
    flip(path, offset + 14)
    with pytest.raises(tfrmap.CorruptionError) as caught:
        list(tfrmap.open(numbers).batches(4))
    error = caught.value
    assert (error.path, error.record, error.offset, error.kind) == (path, 2, offset, "CorruptData")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.record) == (type(error), str(error), 2)
    with pytest.raises(tfrmap.CorruptionError):
        tfrmap.open(numbers)[2]


@pytest.mark.parametrize("policy", ["skip", "mask"])
def test_a_bad_record_costs_its_row_only(numbers, policy):
    whole = ids(tfrmap.open(numbers).batches(4))
    ds = tfrmap.open(numbers)
    flip(ds.shards[0], ds[2].offset + 14)
    batches = tfrmap.open(numbers).batches(4, on_error=policy)
    got = list(batches)
    rows = [int(value) for batch in got for value, valid in zip(batch["id"], batch.valid) if valid]
    assert rows == whole[:2] + whole[3:]
    assert [len(batch["id"]) for batch in got] == [3 if policy == "skip" else 4] + [4] * 9
    assert [(error.record, error.path) for error in batches.errors] == [(2, ds.shards[0])]
    with pytest.raises(tfrmap.Error, match="bad records"):
        list(tfrmap.open(numbers).batches(4, on_error=policy, error_limit=0))


def test_a_replaced_file_is_a_stale_index(tmp_path):
    for name, count in (("f", 3), ("other", 5)):
        with tfrmap.Writer(tmp_path / name) as writer:
            for i in range(count):
                writer.write(bytes([count]) * 10 * (i + 1))
    path = tmp_path / "f"
    os.replace(tmp_path / "other", path)
    with pytest.raises(tfrmap.StaleIndexError, match="tfr-index build") as caught:
        [bytes(record) for record in tfrmap.open(path)]
    assert caught.value.path == str(path)
    assert tfrmap.index(path)[0]["status"] == "rebuilt"
    assert len(tfrmap.open(path)) == 5


def test_features_and_pictures_have_errors_of_their_own(tmp_path):
    path = tmp_path / "f"
    with tfrmap.Writer(path) as writer:
        writer.write({"image/encoded": b"\xff\xd8\xff\xe0 no picture", "image/class/label": 1})
    ds = tfrmap.open(path)
    with pytest.raises(tfrmap.ImageError) as caught:
        next(ds.features(SMALL).batches(1))
    assert (caught.value.feature, caught.value.record) == ("image/encoded", 0)
    with pytest.raises(tfrmap.FeatureError) as caught:
        next(ds.features({"absent": {"fixed_len": {"dtype": "int64"}}}).batches(1))
    assert (caught.value.feature, caught.value.path) == ("absent", str(path))
    with pytest.raises(tfrmap.FeatureError, match="int64"):
        next(ds.features({"image/class/label": {"fixed_len": {"dtype": "float32"}}}).batches(1))


def test_paths_that_are_not_there_are_file_not_found(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        tfrmap.open(tmp_path / "nothing")
    assert isinstance(caught.value, tfrmap.Error) and str(tmp_path / "nothing") in str(caught.value)
    with pytest.raises(tfrmap.CorruptionError):
        (tmp_path / "text").write_text("version https://git-lfs.github.com/spec/v1\n")
        tfrmap.open(tmp_path / "text")
    for no_path in (3, None, b"bytes", [tmp_path, 3]):
        with pytest.raises(TypeError, match="path"):
            tfrmap.open(no_path)
    with pytest.raises(TypeError, match="no order"):
        tfrmap.open({str(tmp_path / "a"), str(tmp_path / "b")})
    with pytest.raises(ValueError, match="gs://bucket.*mount"):
        tfrmap.open("gs://bucket/train-*")
    with pytest.raises(tfrmap.CorruptionError, match="gzip"):
        (tmp_path / "gz").write_bytes(gzip.compress(bytes(100)))
        tfrmap.open(tmp_path / "gz")
    with pytest.raises(tfrmap.ArgumentError):
        tfrmap.open([])


def test_slips_are_named(numbers, tmp_path):
    batch = next(tfrmap.open(numbers).batches(2))
    with pytest.raises(KeyError, match="'labels'.*'id', 'label'"):
        batch["labels"]
    assert batch.get("labels") is None and "labels" not in batch
    with tfrmap.Writer(tmp_path / "f") as writer:
        with pytest.raises(TypeError, match="dict of features.*list"):
            writer.write([1, 2])
        with pytest.raises(TypeError, match="text, not 7"):
            writer.write({7: 1})


def test_what_the_library_has_to_say_is_a_warning(tmp_path, caplog):
    path = tmp_path / "f"
    with tfrmap.Writer(path, index=False) as writer:
        for _ in range(3):
            writer.write(b"x" * 100)
    os.truncate(path, 116 * 3 - 10)
    with pytest.raises(tfrmap.CorruptionError):
        tfrmap.open(path)
    assert len(tfrmap.open(path, whole_records=True)) == 2
    assert [record.name for record in caplog.records] == ["tfrmap"]
    assert str(path) in caplog.text


def test_labels_that_nobody_can_tell_are_an_error(tmp_path):
    with tfrmap.Writer(tmp_path / "f") as writer:
        writer.write({"a": png(picture(1)), "b": png(picture(2))})
    image = {"image": {"size": [4, 4]}}
    batch = next(tfrmap.open(tmp_path / "f").features({"a": image, "b": image}).batches(1))
    with pytest.raises(tfrmap.FeatureError, match="'a', 'b'"):
        batch.images
    with pytest.raises(tfrmap.FeatureError, match="labels"):
        batch.labels


# With NumPy imported before: inside that import Python may turn an interrupt into an ImportError. And with Python's own
# handler, which is not there where the tests run in the background of a shell.
SLOW = """
import signal, sys, threading, numpy, tfrmap
signal.signal(signal.SIGINT, signal.default_int_handler)
spec = {"x": {"image": {"size": [2000, 2000], "method": "lanczos5", "antialias": True}}}
batches = tfrmap.open(sys.argv[1]).features(spec).epochs().batches(64, threads=1, prefetch=1)
# The GIL changes hands only where it is given up: "ready" is printed while the main thread waits for its batch.
sys.setswitchinterval(1000)
begin = threading.Event()
threading.Thread(target=lambda: (begin.wait(), print("ready", flush=True)), daemon=True).start()
begin.set()
for batch in batches:
    pass
"""


def test_ctrl_c_ends_a_wait_at_once(tmp_path):
    with tfrmap.Writer(tmp_path / "f") as writer:
        for i in range(64):
            writer.write({"x": png(picture(i, 50, 50))})
    command = [sys.executable, "-c", SLOW, str(tmp_path / "f")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
        assert "KeyboardInterrupt" in stderr
        assert time.monotonic() - began < 2


def test_leaving_a_loop_ends_its_threads(numbers):
    def threads():
        return len(os.listdir("/proc/self/task"))

    before = threads()
    for _ in tfrmap.open(numbers).epochs().batches(1, threads=3):
        break
    assert _ is not None
    deadline = time.monotonic() + 5
    while threads() > before:
        assert time.monotonic() < deadline
        time.sleep(0.01)
