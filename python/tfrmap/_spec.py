"""Features in plain types, from dicts and from TensorFlow's objects (which are known by their fields; nothing is imported)."""

from __future__ import annotations

_TENSORFLOW = {"string": "bytes"}


def plain(spec):
    """The dict of the JSON spec."""
    if not hasattr(spec, "items"):
        raise TypeError(f"features are a dict of columns, not a {type(spec).__name__}")
    return {_key(key): _column(key, column) for key, column in spec.items()}


def _key(key):
    if isinstance(key, bytes):
        try:
            text = key.decode()
        except UnicodeDecodeError:
            return "hex:" + key.hex()
        return "hex:" + key.hex() if text.startswith("hex:") else text
    return key


def _column(key, column):
    if isinstance(column, dict):
        return _json(column)
    if isinstance(column, str):
        return {column: {}}
    match type(column).__name__:
        case "FixedLenFeature":
            return {"fixed_len": _dense(column)}
        case "FixedLenSequenceFeature" if column.allow_missing:
            return {"padded": _dense(column)}
        case "VarLenFeature":
            return {"var_len": {"dtype": _dtype(column.dtype)}}
        case "RaggedFeature" if not column.partitions and column.value_key in (None, key):
            return {"var_len": {"dtype": _dtype(column.dtype)}}
        case name:
            raise TypeError(
                f'feature "{key}": a {name} is not understood; '
                'give a dict such as {"fixed_len": {"dtype": "int64", "shape": []}}'
            )


def _dense(feature):
    shape = feature.shape
    words = {"dtype": _dtype(feature.dtype), "shape": [int(size) for size in shape]}
    if feature.default_value is not None:
        words["default_value"] = _json(feature.default_value)
    return words


def _dtype(dtype):
    name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    return _TENSORFLOW.get(name, name)


def _json(value):
    if isinstance(value, dict):
        return {key: _dtype(inner) if key == "dtype" else _json(inner) for key, inner in value.items()}
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return {"hex": value.hex()}
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return {"inf": "inf", "-inf": "-inf"}.get(str(value), "nan")
    if hasattr(value, "tolist"):
        return _json(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_json(inner) for inner in value]
    return value
