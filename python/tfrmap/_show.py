"""Pictures of a batch, to look at."""

from __future__ import annotations

from tfrmap._errors import ArgumentError, FeatureError


def show(batch, *, columns=5, names=None):
    """A matplotlib figure of the pictures of a batch with their labels.

    `names` gives the text of a label: a list, a dict or a function.
    """
    import numpy

    try:
        import matplotlib.pyplot as plt
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError("tfrmap.show needs matplotlib: pip install matplotlib") from missing

    images = numpy.asarray(batch.images)
    try:
        labels = numpy.asarray(batch.labels).tolist()
    except FeatureError:
        labels = [None] * len(images)
    if not len(images):
        raise ArgumentError("the batch has no rows to show")
    columns = min(columns, len(images))
    rows = -(-len(images) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(2.2 * columns, 2.4 * rows), squeeze=False)
    for axis in axes.flat:
        axis.set_axis_off()
    for axis, image, label in zip(axes.flat, images, labels, strict=False):
        picture = _displayable(image)
        axis.imshow(picture, cmap="gray" if picture.ndim == 2 else None)
        if label is not None:
            axis.set_title(_name(label, names), fontsize=9)
    figure.tight_layout()
    return figure


def _displayable(image):
    """Height, width and channels, with values that matplotlib shows from the darkest to the brightest."""
    import numpy

    if image.shape[0] in (1, 3, 4) and image.shape[-1] not in (1, 3, 4):
        image = numpy.moveaxis(image, 0, -1)
    if image.dtype != numpy.uint8:
        low, high = float(image.min()), float(image.max())
        if low < 0 or high > 1:
            # Normalised, or 0 to 255.
            image = (image - low) / ((high - low) or 1.0)
    return image[..., 0] if image.shape[-1] == 1 else image


def _name(label, names):
    if names is None:
        return str(label)
    if callable(names):
        return str(names(label))
    try:
        return str(names[label])
    except LookupError:
        return str(label)
