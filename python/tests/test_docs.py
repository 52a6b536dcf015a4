"""Fear: the documentation shows code that does not run."""

import importlib.util
import pathlib
import re

import pytest
from conftest import picture, png

import tfrmap

DOCS = pathlib.Path(__file__).parents[2] / "docs" / "python.md"
BLOCKS = re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL)
# Code of before, which needs what is replaced.
BEFORE = ("tf.io.", "DistributedSampler", "ArrayRecordDataSource")


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_the_code_runs(number, tmp_path, monkeypatch):
    block = BLOCKS[number]
    compile(block, "docs/python.md", "exec")
    if any(word in block for word in BEFORE):
        return
    needs = {"tf": "tensorflow", "torch": "torch", "grain": "grain", "ray": "ray"}
    for word, module in needs.items():
        if re.search(rf"\b{word}\.", block.replace(f"tfrmap.{word}.", "")) and not importlib.util.find_spec(module):
            pytest.skip(f"{module} is not installed: code of docs/python.md is NOT tested")
    if "Loader" in block:
        pytest.importorskip("torch", reason="torch is not installed: code of docs/python.md is NOT tested")
    monkeypatch.chdir(tmp_path)
    pathlib.Path("data").mkdir()
    with tfrmap.Writer("data/train", shards=2) as writer:
        for i in range(130):
            writer.write({
                "image/encoded": png(picture(i)),
                "image/class/label": i % 2,
                "image/object/bbox/xmin": [0.5] * (i % 3),
            })
    dataset = tfrmap.open("data/train-*")
    names = {
        "tfrmap": tfrmap,
        "train": lambda images, labels: None,
        "dataset": dataset,
        "batch": next(dataset.batches(4)),
        "jpeg_bytes": png(picture(1)),
    }
    if "tfrmap.show" in block and not importlib.util.find_spec("matplotlib"):
        block = block.replace("tfrmap.show", "# ")
    for module in ("torch", "grain", "ray"):
        if re.search(rf"\b{module}\.", block) and importlib.util.find_spec(module):
            names[module] = importlib.import_module(module)
    if "model.fit" in block:
        tf = importlib.import_module("tensorflow")
        names["tf"] = tf
        names["model"] = tf.keras.Sequential([tf.keras.layers.GlobalAveragePooling2D(), tf.keras.layers.Dense(2)])
        names["model"].compile(loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    # 90 epochs show the same as 2.
    exec(re.sub(r"\b90\b", "2", block), names)
