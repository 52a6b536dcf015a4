"""Makes presets.json: SHA-256 of what Pillow and torchvision's arithmetic give for the presets' specs. Needs Pillow, NumPy."""

import hashlib
import json

import numpy as np
import PIL
from PIL import Image

PHOTOS = ["photo_chelsea_451x300_444.jpg", "photo_astronaut_375x500_opt.jpg", "jpg_gray.jpg", "png_rgba8_adam7.png"]
MEAN, STD = (np.float32(v)[:, None, None] for v in ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]))


def imagenet_eval(image, resize, crop):
    """torchvision: Resize(resize), CenterCrop(crop), ToTensor(), Normalize(MEAN, STD)."""
    w, h = image.size
    size = (int(resize * w / h), resize) if h <= w else (resize, int(resize * h / w))
    image = image.resize(size, Image.Resampling.BILINEAR)
    top, left = (int(round((side - crop) / 2.0)) for side in (image.size[1], image.size[0]))
    image = image.crop((left, top, left + crop, top + crop))
    tensor = np.asarray(image).transpose(2, 0, 1).astype(np.float32) / np.float32(255)
    return (tensor - MEAN) / STD


def main():
    cases = []
    for photo in PHOTOS:
        image = Image.open(f"../images/inputs/{photo}")
        image = Image.fromarray(np.asarray(image)[..., :3]) if image.mode == "RGBA" else image.convert("RGB")
        pixels = np.asarray(image.resize((150, 100), Image.Resampling.BILINEAR))
        results = {
            "pillow(100, 150)": pixels.astype(np.float32) * (np.float32(1) / np.float32(255)),
            "imagenet_eval(256, 224)": imagenet_eval(image, 256, 224),
            "imagenet_eval(97, 64)": imagenet_eval(image, 97, 64),
        }
        for preset, result in results.items():
            assert result.dtype == np.float32
            digest = hashlib.sha256(np.ascontiguousarray(result).tobytes()).hexdigest()
            cases.append({"input": photo, "preset": preset, "sha256": digest})
    with open("presets.json", "w") as f:
        f.write('{"made_with": {"pillow": "%s"}, "cases": [\n' % PIL.__version__)
        f.write(",\n".join(json.dumps(case) for case in cases))
        f.write("\n]}\n")


main()
