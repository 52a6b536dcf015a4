"""Makes pillow.json: SHA-256 of Pillow's resizes of made-up pictures. Needs Pillow and NumPy."""

import hashlib
import json
import random

import numpy as np
import PIL
from PIL import Image

MODES = {1: "L", 3: "RGB", 4: "RGBA"}
METHODS = {
    "pillow_box": Image.Resampling.BOX,
    "pillow_bilinear": Image.Resampling.BILINEAR,
    "pillow_bicubic": Image.Resampling.BICUBIC,
    "pillow_lanczos": Image.Resampling.LANCZOS,
}


def picture(seed, height, width, channels):
    """Ramps under noise; every third picture is noise alone, every third has hard edges."""
    i = np.arange(height * width * channels, dtype=np.uint64)
    h = (i * 2654435761 + seed * 40503) & 0xFFFFFFFF
    h ^= h >> 15
    h = (h * 2246822519) & 0xFFFFFFFF
    h ^= h >> 13
    noise = h & 255
    c, x, y = i % channels, i // channels % width, i // (channels * width)
    if seed % 3 == 0:
        values = noise
    elif seed % 3 == 1:
        values = (x * 3 + y * 5 + c * 40 + noise // 16) & 255
    else:
        values = ((x // 5 + y // 3 + c) % 2) * 255
    return values.astype(np.uint8).reshape(height, width, channels)


def main():
    rng = random.Random(6)
    cases = []
    for seed in range(200):
        height, width = (rng.choice([1, 2, 3, 7, 16, 33, 64, 100, 131, 190]) for _ in range(2))
        out_h, out_w = (rng.choice([1, 2, 5, 16, 31, 64, 96, 150, 224]) for _ in range(2))
        if seed % 10 == 9:
            out_w = width
        if seed % 20 == 19:
            out_h = height
        channels = [3, 1, 3, 4][seed % 4]
        method = list(METHODS)[seed // 4 % 4]
        image = Image.fromarray(picture(seed, height, width, channels).squeeze(2) if channels == 1
                                else picture(seed, height, width, channels), MODES[channels])
        out = np.asarray(image.resize((out_w, out_h), METHODS[method]))
        cases.append({"seed": seed, "shape": [height, width, channels], "size": [out_h, out_w], "method": method,
                      "sha256": hashlib.sha256(out.tobytes()).hexdigest()})
    with open("pillow.json", "w") as f:
        f.write('{"made_with": {"pillow": "%s"}, "cases": [\n' % PIL.__version__)
        f.write(",\n".join(json.dumps(case) for case in cases))
        f.write("\n]}\n")


main()
