"""How rows become the bytes of a file, and come back: lines of JSON in gzip, or Parquet."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Sequence
from typing import IO, Any, Protocol

from postmill.domain.archive import Format
from postmill.domain.archive_rows import Columns, liner
from postmill.domain.errors import ArchiveDamaged, ArchiveMissing

Row = tuple[list[Any], bytes]
"""Values of a row, and its line of JSON with its end."""


class Sink(Protocol):
    """Takes rows and writes a file."""

    def write(self, rows: Sequence[Row]) -> None:
        """Some rows."""

    def close(self) -> None:
        """No more of them. Leaves the file open."""


SUFFIX: dict[Format, str] = {"ndjson": "ndjson.gz", "parquet": "parquet"}


def sink(format: Format, columns: Columns, file: IO[bytes]) -> Sink:
    """What writes to `file`. Raises ArchiveMissing where pyarrow is needed and is not there."""
    if format == "ndjson":
        return _Lines(file)
    try:
        from postmill.archive.parquet import ParquetSink
    except ImportError:
        raise ArchiveMissing(
            "archive.format parquet needs pyarrow: pip install 'postmill[archive]'"
        ) from None
    return ParquetSink(columns, file)


def rows_in(format: Format, columns: Columns, file: IO[bytes], name: str) -> Iterator[Row]:
    """A file's rows in order; of lines of JSON without values, which nobody needs to parse. Raises ArchiveDamaged."""
    if format == "ndjson":
        yield from _of_lines(file, name)
        return
    try:
        from postmill.archive.parquet import rows_of
    except ImportError:
        raise ArchiveMissing("to read Parquet needs pyarrow: pip install 'postmill[archive]'") from None
    line = liner(columns)
    for values in rows_of(columns, file, name):
        yield values, line(values)


class _Lines:
    def __init__(self, file: IO[bytes]) -> None:
        # Neither name nor time: the same rows make the same file.
        self._gzip = gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0)

    def write(self, rows: Sequence[Row]) -> None:
        self._gzip.write(b"".join(line for _, line in rows))

    def close(self) -> None:
        self._gzip.close()


def _of_lines(file: IO[bytes], name: str) -> Iterator[Row]:
    try:
        with gzip.GzipFile(fileobj=file, mode="rb") as lines:
            for line in lines:
                yield [], line
    except (OSError, EOFError, zlib.error) as fault:
        raise ArchiveDamaged(f"{name} cannot be read: {type(fault).__name__}: {fault}") from None
