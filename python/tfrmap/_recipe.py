"""How a data set is made again, in another process."""

from __future__ import annotations

from tfrmap._native import open


def rebuild(paths, options, verbs):
    """Opens the paths and applies the verbs, from left to right."""
    dataset = open(paths, **options)
    for name, args in verbs:
        dataset = getattr(dataset, name)(*args)
    return dataset
