"""Fear: a type checker is told something else than what is there."""

import importlib.util
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(
    not importlib.util.find_spec("mypy"), reason="mypy is not installed: the stubs are NOT checked"
)

USE = """
import tfrmap

ds: tfrmap.Dataset = tfrmap.open(["a", "b"], access="read").shuffled(7).epochs(range(2))[3:9]
record: tfrmap.Record = ds[0]
text: bytes = bytes(record.data)
spec: dict[str, object] = ds.features()
for batch in ds.features({"x": {"var_len": {"dtype": "int64"}}}).batches(4, remainder="drop"):
    print(batch.images, batch.labels)
one: tfrmap.Batch = ds.read([1, 2])
with tfrmap.Writer("out", shards=2) as writer:
    writer.write({"x": 1})
try:
    tfrmap.index("a")
except tfrmap.StaleIndexError as error:
    print(error.path, error.record)
"""


def test_the_stubs_are_true(tmp_path):
    # The buffer protocol has no method at run time before Python 3.12.
    allowed = tmp_path / "allowed"
    allowed.write_text("tfrmap\\._native\\.Buffer\\.__buffer__\n")
    options = ["--allowlist", str(allowed), "--ignore-unused-allowlist", "--ignore-disjoint-bases"]
    checked = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "tfrmap._native", *options], capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_a_program_passes_the_strict_checker(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(USE)
    for text, fine in ((USE, True), (USE + "\nds.batches('4')\n", False)):
        program.write_text(text)
        checked = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(program)],
            capture_output=True,
            text=True,
        )
        assert (checked.returncode == 0) == fine, checked.stdout
