"""Makes pipeline.json: SHA-256 of whole input pipelines in TensorFlow, with the spec that must give the same bytes."""

import hashlib
import json

import numpy as np
import tensorflow as tf

PHOTOS = ["photo_chelsea_451x300_444.jpg", "photo_astronaut_375x500_opt.jpg", "png_rgba8_adam7.png", "jpg_gray.jpg"]
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def decode(data, channels=3, dct="INTEGER_ACCURATE"):
    if data[:2] == b"\xff\xd8":
        return tf.io.decode_jpeg(data, channels=channels, dct_method=dct)
    return tf.io.decode_png(data, channels=channels)


def f32(image):
    return tf.image.convert_image_dtype(image, tf.float32)


def pipelines(data):
    v2, v1 = tf.image.resize, tf.compat.v1.image.resize_images
    bilinear = f32(decode(data))
    to_u8 = lambda image: tf.image.convert_image_dtype(image, tf.uint8, saturate=True)
    normal = lambda image: (image - np.float32(MEAN)) / np.float32(STD)
    yield {}, v2(bilinear, [224, 224])
    yield {"size": [97, 301]}, v2(bilinear, [97, 301])
    yield {"size": None}, bilinear
    yield {"size": None, "scale": False}, tf.cast(decode(data), tf.float32)
    yield {"size": None, "dtype": "uint8"}, decode(data)
    yield {"size": [64, 64], "dtype": "uint8"}, to_u8(v2(bilinear, [64, 64]))
    yield {"size": [500, 333], "dtype": "uint8"}, to_u8(v2(bilinear, [500, 333]))
    yield {"size": [100, 100], "dtype": "uint8", "method": "bicubic"}, to_u8(v2(bilinear, [100, 100], "bicubic"))
    yield {"size": [100, 100], "dtype": "uint8", "method": "nearest"}, v2(decode(data), [100, 100], "nearest")
    yield {"size": [60, 80], "layout": "nchw"}, tf.transpose(v2(bilinear, [60, 80]), [2, 0, 1])
    yield {"size": [60, 80], "layout": "nchw", "dtype": "uint8"}, tf.transpose(to_u8(v2(bilinear, [60, 80])), [2, 0, 1])
    yield {"size": [96, 96], "mean": MEAN, "std": STD}, normal(v2(bilinear, [96, 96]))
    yield ({"size": [96, 96], "mean": MEAN, "std": STD, "layout": "nchw"},
           tf.transpose(normal(v2(bilinear, [96, 96])), [2, 0, 1]))
    yield {"size": [96, 96], "scale": False}, v2(decode(data), [96, 96])
    yield {"size": [96, 96], "scale": "after"}, v2(decode(data), [96, 96]) * np.float32(1 / 255)
    yield {"size": [96, 96], "scale": "divide"}, v2(decode(data), [96, 96]) / 255.0
    yield {"size": [80, 80], "fit": "pad"}, tf.image.resize_with_pad(bilinear, 80, 80)
    yield {"size": [50, 91], "fit": "pad", "antialias": True}, tf.image.resize_with_pad(bilinear, 50, 91, antialias=True)
    yield {"size": [90, 70], "channels": 1}, v2(f32(decode(data, 1)), [90, 70])
    yield {"size": [90, 70], "channels": 1, "dtype": "uint8"}, to_u8(v2(f32(decode(data, 1)), [90, 70]))
    crop = f32(decode(data))[3:23, 5:35]
    yield {"size": [40, 40], "crop": [3, 5, 20, 30]}, v2(crop, [40, 40])
    yield {"size": None, "crop": [3, 5, 20, 30]}, crop
    yield {"size": [40, 40], "crop": [3, 5, 20, 30], "antialias": True, "method": "bicubic"}, v2(
        crop, [40, 40], "bicubic", antialias=True)
    yield {"size": [70, 70], "coordinates": "asymmetric"}, v1(bilinear, [70, 70])
    yield {"size": [70, 70], "coordinates": "align_corners", "method": "bicubic"}, v1(
        bilinear, [70, 70], method=2, align_corners=True)
    yield {"size": [70, 70], "coordinates": "asymmetric", "dct_method": "INTEGER_FAST"}, v1(
        f32(decode(data, dct="INTEGER_FAST")), [70, 70])
    if data[:2] != b"\xff\xd8":
        yield {"size": [70, 70], "channels": 4}, v2(f32(decode(data, 4)), [70, 70])


def main():
    cases = []
    for photo in PHOTOS:
        with open(f"../images/inputs/{photo}", "rb") as f:
            data = f.read()
        for spec, result in pipelines(data):
            result = np.asarray(result)
            cases.append({"input": photo, "spec": spec, "shape": list(result.shape),
                          "sha256": hashlib.sha256(np.ascontiguousarray(result).tobytes()).hexdigest()})
    with open("pipeline.json", "w") as f:
        f.write('{"made_with": {"tensorflow": "%s"}, "cases": [\n' % tf.__version__)
        f.write(",\n".join(json.dumps(case) for case in cases))
        f.write("\n]}\n")


main()
