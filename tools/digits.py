"""Writes scikit-learn's handwritten digits as PNG files, a folder for each class: OUT/train/0/0000.png, OUT/test/9/1796.png, ..

    pip install scikit-learn pillow
    python tools/digits.py OUT

1,797 grey pictures of 8 x 8 (UCI's Optical Recognition of Handwritten Digits, CC BY 4.0): every fifth picture of a class is for the test.
`tfr-index pack OUT/train --out train.tfrecord` makes a file of them that is sorted by class, as people's files often are.
"""

import pathlib
import sys

from PIL import Image
from sklearn.datasets import load_digits

if len(sys.argv) != 2:
    sys.exit(__doc__)
out = pathlib.Path(sys.argv[1])
digits = load_digits()
seen = [0] * 10
for number, (picture, label) in enumerate(zip(digits.images, digits.target)):
    part = "test" if seen[label] % 5 == 4 else "train"
    seen[label] += 1
    folder = out / part / str(label)
    folder.mkdir(parents=True, exist_ok=True)
    grey = (picture * 255 / 16).round().astype("uint8")  # from 0..=16
    Image.fromarray(grey).save(folder / f"{number:04d}.png")
print(f"{len(digits.target)} pictures in {out}")
