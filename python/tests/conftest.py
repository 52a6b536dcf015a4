"""Data sets that the tests write themselves."""

import struct
import zlib

import numpy as np
import pytest

import tfrmap


def png(pixels: np.ndarray) -> bytes:
    """A PNG of uint8 pixels, height x width x 3."""
    height, width, _ = pixels.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows.tobytes(), 1))
        + chunk(b"IEND", b"")
    )


def picture(i: int, height: int = 12, width: int = 10) -> np.ndarray:
    """Pixels that differ for each number."""
    return np.random.default_rng(i).integers(0, 256, (height, width, 3), dtype=np.uint8)


@pytest.fixture
def numbers(tmp_path):
    """40 records in 3 shards: `id` and a label."""
    with tfrmap.Writer(tmp_path / "numbers", shards=3) as writer:
        for i in range(40):
            writer.write({"id": i, "label": i % 7})
    return str(tmp_path / "numbers-*-of-00003")


@pytest.fixture
def pictures(tmp_path):
    """23 pictures of 12 x 10 pixels with labels, in 2 shards."""
    with tfrmap.Writer(tmp_path / "pictures", shards=2) as writer:
        for i in range(23):
            writer.write({
                "image/encoded": png(picture(i)),
                "image/class/label": i % 5,
                "image/class/text": f"class {i % 5}",
            })
    return str(tmp_path / "pictures-*-of-00002")


SMALL = {
    "image/encoded": {"image": {"size": [12, 10], "dtype": "uint8"}},
    "image/class/label": {"fixed_len": {"dtype": "int64", "shape": []}},
}


def ids(batches, key="id"):
    """The values of a scalar column over all batches."""
    return [int(value) for batch in batches for value in batch[key]]
