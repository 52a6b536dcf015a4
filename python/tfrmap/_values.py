"""What the values of a feature are, when a dict is written as an Example."""

from __future__ import annotations


def feature(key: bytes, value) -> tuple[str, list]:
    """`("int64", ints)`, `("float", floats)`, `("bytes", list of bytes)` or `("none", [])`."""
    try:
        return _feature(value)
    except (TypeError, ValueError, OverflowError) as error:
        # A UnicodeEncodeError is a ValueError that is made from more than a text.
        kind = ValueError if isinstance(error, UnicodeError) else type(error)
        raise kind(f'feature "{key.decode(errors="backslashreplace")}": {error}') from None


def _feature(value):
    if isinstance(value, bytes):
        return "bytes", [value]
    if isinstance(value, str):
        return "bytes", [value.encode()]
    if isinstance(value, (bytearray, memoryview)):
        return "bytes", [bytes(value)]
    if isinstance(value, (bool, int)):
        return "int64", [_int64(value)]
    if isinstance(value, float):
        return "float", [value]
    if hasattr(value, "__array__"):
        return _of_array(value)
    if isinstance(value, (list, tuple)):
        return _of_list(value)
    raise TypeError(f"a {type(value).__name__} is no value of a feature")


def _int64(value):
    if not -(2**63) <= value < 2**63:
        raise OverflowError(f"{value} does not fit 64 bits")
    return int(value)


def _of_list(values):
    kinds = []
    flat = []
    for value in values:
        kind, inner = _feature(value)
        if inner:
            kinds.append(kind)
            flat.extend(inner)
    found = set(kinds)
    if found == {"int64", "float"}:
        return "float", [float(value) for value in flat]
    if len(found) > 1:
        raise TypeError("a feature holds numbers or byte strings, not both")
    # An empty list has no kind of its own: the feature is there without one, which readers take for empty of any kind.
    return (kinds[0] if kinds else "none"), flat


def _of_array(value):
    import numpy

    array = numpy.asarray(value).ravel()
    match array.dtype.kind:
        case "b" | "i":
            return "int64", array.astype(numpy.int64).tolist()
        case "u":
            if array.size and int(array.max()) >= 2**63:
                raise OverflowError("an unsigned number does not fit a signed 64-bit one")
            return "int64", array.astype(numpy.int64).tolist()
        case "f":
            return "float", array.astype(numpy.float32).tolist()
        case "S" | "U" | "O":
            return _of_list(array.tolist())
        case _:
            raise TypeError(f"an array of {array.dtype} is no value of a feature")
