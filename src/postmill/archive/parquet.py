"""Parquet files: typed columns, JSON as text. Needs pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from postmill.domain.archive_rows import FLOAT, INTEGERS, MOMENT, Columns
from postmill.domain.errors import ArchiveDamaged

BATCH = 5000
"""Rows in memory at a time, and in a row group."""


def _type(kind: str) -> Any:
    if kind in INTEGERS:
        return pa.int64()
    if kind == FLOAT:
        return pa.float64()
    if kind == "boolean":
        return pa.bool_()
    return pa.timestamp("us", tz="UTC") if kind == MOMENT else pa.string()


def schema_of(columns: Columns) -> Any:
    """Columns in Arrow's words; each has PostgreSQL's type in its metadata."""
    return pa.schema([pa.field(name, _type(kind), metadata={"postgresql": kind}) for name, kind in columns])


class ParquetSink:
    """Writes row groups of BATCH rows, compressed by zstd."""

    def __init__(self, columns: Columns, file: IO[bytes]) -> None:
        self._schema = schema_of(columns)
        self._waiting: list[list[Any]] = []
        self._writer = pq.ParquetWriter(file, self._schema, compression="zstd")

    def write(self, rows: Sequence[tuple[list[Any], bytes]]) -> None:
        self._waiting += [values for values, _ in rows]
        while len(self._waiting) >= BATCH:
            self._flush(BATCH)

    def close(self) -> None:
        if self._waiting:
            self._flush(len(self._waiting))
        self._writer.close()

    def _flush(self, n: int) -> None:
        some, self._waiting = self._waiting[:n], self._waiting[n:]
        arrays = [
            pa.array(list(column), field.type)
            for column, field in zip(zip(*some, strict=True), self._schema, strict=True)
        ]
        self._writer.write_batch(pa.record_batch(arrays, schema=self._schema))


def rows_of(columns: Columns, file: IO[bytes], name: str) -> Iterator[list[Any]]:
    """Rows in order. Raises ArchiveDamaged."""
    try:
        found = pq.ParquetFile(file)
        if found.schema_arrow.names != [column for column, _ in columns]:
            raise ArchiveDamaged(f"{name} has other columns than its manifest says")
        for batch in found.iter_batches(batch_size=BATCH):
            yield from (
                list(row) for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
            )
    except (pa.ArrowException, OSError, ValueError, OverflowError) as fault:
        raise ArchiveDamaged(f"{name} cannot be read: {type(fault).__name__}: {fault}") from None
