"""Fear: through Python the pixels are not those of TensorFlow, or the cases that users reported come back."""

import hashlib
import json
import os
import pathlib

import numpy as np
import pytest

import tfrmap


def folder(variable):
    path = os.environ.get(variable)
    if not path:
        pytest.skip(f"{variable} is not set: NOT tested")
    return pathlib.Path(path)


RESIZE = {
    "v1": {"coordinates": "asymmetric"},
    "v1_align": {"coordinates": "align_corners"},
    "v2": {},
    "v2_antialias": {"antialias": True},
    "v2_bicubic_antialias": {"method": "bicubic", "antialias": True},
}


def test_pixels_are_tensorflows(tmp_path):
    golden = folder("TFRMAP_GOLDEN")
    cases = json.loads((golden / "resize" / "golden.json").read_text())["cases"]
    cases = [case for case in cases if case["fn"] == "seed_pipeline" and case["args"]["convert"] and case["ok"]]
    assert len(cases) > 20
    inputs = sorted({case["input"] for case in cases})
    for i, name in enumerate(inputs):
        with tfrmap.Writer(tmp_path / str(i)) as writer:
            writer.write({"x": (golden / name).read_bytes()})
    for case in cases:
        args = case["args"]
        spec = {
            "size": args["size"],
            "channels": args["decode"]["channels"],
            "dct_method": args["decode"]["dct_method"] or "INTEGER_FAST",
            **RESIZE[args["resize"]],
        }
        ds = tfrmap.open(tmp_path / str(inputs.index(case["input"]))).features({"x": {"image": spec}})
        pixels = next(ds.batches(1)).images[0]
        assert list(pixels.shape) == case["shape"]
        assert hashlib.sha256(pixels.tobytes()).hexdigest() == case["sha256"], case["id"]


def test_class_sorted_shards_are_mixed_and_read_once():
    ds = tfrmap.open(folder("TFRMAP_CASES") / "dirs" / "S01_sorted")
    assert len(ds) == 400
    for seed in range(20):
        for threads in (1, 2, 7, 64) if seed == 0 else (2,):
            batches = list(ds.shuffled(seed).batches(40, threads=threads))
            indices = np.concatenate([batch.indices for batch in batches])
            assert sorted(indices.tolist()) == list(range(400))
        displacement = np.abs(indices.astype(np.int64) - np.arange(400)).mean()
        assert 110 <= displacement <= 155
        assert len({shard for shard, _ in batches[0].sources.tolist()}) >= 7


def test_more_ranks_than_records():
    ds = tfrmap.open(folder("TFRMAP_CASES") / "dirs" / "S03_three")
    kept = [list(ds.for_rank(rank, 8).batches(2, remainder="keep")) for rank in range(8)]
    assert [sum(len(batch.indices) for batch in share) for share in kept] == [1, 1, 1, 0, 0, 0, 0, 0]
    padded = [list(ds.for_rank(rank, 8).batches(2, remainder="pad")) for rank in range(8)]
    assert [len(share) for share in padded] == [1] * 8
    assert sum(int(batch.valid.sum()) for share in padded for batch in share) == 3


def test_a_file_cut_while_it_is_read_is_an_error(tmp_path):
    path = tmp_path / "f"
    with tfrmap.Writer(path) as writer:
        for _ in range(100):
            writer.write(b"x" * 10_000)
    ds = tfrmap.open(path, access="read").features({"record": "raw"})
    batches = ds.batches(1, prefetch=1, threads=1)
    next(batches)
    os.truncate(path, 0)
    with pytest.raises(tfrmap.Error, match=str(path)) as caught:
        list(batches)
    assert caught.value.path == str(path)
