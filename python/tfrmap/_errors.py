"""The exceptions. Each says what went wrong, where, and the way out; the parts are attributes."""

from __future__ import annotations


class Error(Exception):
    """Any error of tfrmap.

    `kind` is the class name that the command line tool prints too; `path`, `record` (within that file), `offset`
    (the first byte of the record's frame) and `feature` are None where they are not known.
    """

    kind: str
    path: str | None
    record: int | None
    offset: int | None
    feature: str | None

    def __init__(self, message="", *, kind="Other", path=None, record=None, offset=None, feature=None):
        super().__init__(message)
        self.kind = kind
        self.path = path
        self.record = record
        self.offset = offset
        self.feature = feature

    def __reduce__(self):
        return (_restore, (type(self), str(self), self.__dict__))

    def __str__(self):
        return str(self.args[0]) if self.args else ""


def _restore(cls, message, fields):
    error = cls(message)
    error.__dict__.update(fields)
    return error


class CorruptionError(Error):
    """Data on disk is damaged, cut, compressed, or not what it should be."""


class StaleIndexError(Error):
    """The index and its data do not belong together (any more): rebuild it with `tfrmap.index`."""


class FeatureError(Error):
    """A feature is missing, of another kind, or of another number of values than asked for."""


class ImageError(Error):
    """A picture cannot be decoded, is not supported, or is larger than the limits."""


class ArgumentError(Error, ValueError):
    """An argument makes no sense."""


class FileError(Error, OSError):
    """The operating system refused or failed, or an output exists already."""


class NotFoundError(FileError, FileNotFoundError):
    """A path does not exist."""
