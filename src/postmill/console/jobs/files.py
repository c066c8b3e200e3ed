"""A list as a file: one JSON object a line, or a table that programs for tables open without running anything in it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import orjson
from starlette.responses import Response

from postmill.console.jobs.lines import Line
from postmill.operate.lists import COLUMNS, values

FORMATS = ("ndjson", "csv")
_TYPES = {"ndjson": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}


def file_of(lines: Sequence[Line], paths: Sequence[tuple[str, ...]], form: str, *, whole: bool) -> Response:
    """The file to be saved. The header `X-Postmill-Complete` says whether it holds all jobs of the query."""
    names = [*COLUMNS, "replayed_as", "replay_state", *("args." + ".".join(path) for path in paths)]
    body = _csv(lines, names) if form == "csv" else b"".join(_json(lines, names))
    headers = {
        "Content-Disposition": f'attachment; filename="jobs-{datetime.now(UTC):%Y%m%d-%H%M%S}.{form}"',
        "Cache-Control": "no-store",
        "X-Postmill-Complete": "true" if whole else "false",
    }
    return Response(body, media_type=_TYPES[form], headers=headers)


def _json(lines: Sequence[Line], names: Sequence[str]) -> Iterator[bytes]:
    for line in lines:
        yield (orjson.dumps(dict(zip(names, [*_values(line)], strict=True)), default=str) + b"\n")


def _csv(lines: Sequence[Line], names: Sequence[str]) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(names)
    for line in lines:
        writer.writerow([_cell(value) for value in _values(line)])
    return out.getvalue().encode()


def _values(line: Line) -> Iterator[object]:
    yield from values(line.job)
    yield from (None, None) if line.replay is None else (line.replay.id, line.replay.state)
    yield from line.args


def _cell(value: Any) -> str:
    """Text that no program takes for a formula."""
    if value is None:
        return ""
    text = value.isoformat() if isinstance(value, datetime) else str(value)
    return (
        f"'{text}"
        if text[:1] in ("=", "+", "-", "@", "\t", "\r") and not isinstance(value, int | float)
        else text
    )
