"""Fear: a type checker is told something else than what is there."""

import ast
import importlib.util
import inspect
import pathlib
import subprocess
import sys

import pytest

import tfrmap

mypy = pytest.mark.skipif(
    not importlib.util.find_spec("mypy"), reason="mypy is not installed: the types of the stubs are NOT checked"
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


def public(names):
    return {name for name in names if not name.startswith("_")}


def test_the_stubs_name_what_is_there():
    """Without a type checker: the names, and those of the arguments."""
    stubs = ast.parse(pathlib.Path(tfrmap.__file__).with_name("_native.pyi").read_text())
    classes = {node.name: node for node in stubs.body if isinstance(node, ast.ClassDef)}
    functions = {node.name: node for node in stubs.body if isinstance(node, ast.FunctionDef)}
    assert public(vars(tfrmap._native)) == set(classes) | set(functions)

    def arguments(stub):
        names = [argument.arg for argument in stub.args.posonlyargs + stub.args.args + stub.args.kwonlyargs]
        return [name for name in names if name not in ("self", "cls")]

    def real(function):
        return [name for name in inspect.signature(function).parameters if name != "self"]

    for name, stub in functions.items():
        assert arguments(stub) == real(getattr(tfrmap._native, name)), name
    for name, stub in classes.items():
        cls = getattr(tfrmap._native, name)
        methods = {node.name: node for node in stub.body if isinstance(node, ast.FunctionDef)}
        assert public(methods) == public(vars(cls)), name
        for method in public(methods):
            if callable(getattr(cls, method)):
                assert arguments(methods[method]) == real(getattr(cls, method)), f"{name}.{method}"


@mypy
def test_the_stubs_are_true(tmp_path):
    # The buffer protocol has no method at run time before Python 3.12.
    allowed = tmp_path / "allowed"
    allowed.write_text("tfrmap\\._native\\.Buffer\\.__buffer__\n")
    options = ["--allowlist", str(allowed), "--ignore-unused-allowlist", "--ignore-disjoint-bases"]
    checked = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "tfrmap._native", *options], capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


@mypy
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
