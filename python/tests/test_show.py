"""Fear: the pictures of a batch cannot be looked at."""

import pytest
from conftest import SMALL

import tfrmap


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_a_batch_can_be_shown(pictures, dtype):
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed: show is NOT tested")
    matplotlib.use("agg")
    spec = {**SMALL, "image/encoded": {"image": {"size": [12, 10], "dtype": dtype}}}
    batch = next(tfrmap.open(pictures).features(spec).batches(7))
    figure = tfrmap.show(batch, columns=3, names=["a", "b", "c", "d", "e"])
    titles = [axis.get_title() for axis in figure.axes]
    assert titles == ["a", "c", "e", "b", "d", "a", "c", "", ""]
    assert figure.axes[0].images[0].get_array().shape == (12, 10, 3)
