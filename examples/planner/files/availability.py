"""Availability from CSV: `email,starts_at,ends_at`, RFC 3339 with a zone. The whole file is right, or it is refused."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

HEAD = ["email", "starts_at", "ends_at"]
MOST_FAULTS = 20


class BadFile(Exception):
    """The file cannot be imported; the message names its lines. Another attempt would find the same."""

    retryable = False


@dataclass(frozen=True, slots=True)
class Window:
    """When somebody can be planned. `line` is that of the file, from 1."""

    line: int
    email: str
    starts_at: datetime
    ends_at: datetime


def parsed(content: bytes) -> list[Window]:
    """All lines of a file. Raises BadFile, which names up to 20 lines and quotes none of them."""
    try:
        lines = content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise BadFile("the file is not UTF-8") from None
    reader = csv.reader(lines)
    if next(reader, None) != HEAD:
        raise BadFile(f"line 1: must be {','.join(HEAD)}")
    found: list[Window] = []
    faults: list[str] = []
    for number, cells in enumerate(_rows(reader), 2):
        try:
            found.append(_window(number, cells))
        except ValueError as fault:
            faults.append(f"line {number}: {fault}")
    if faults:
        more = f" … and {len(faults) - MOST_FAULTS} more" if len(faults) > MOST_FAULTS else ""
        raise BadFile("; ".join(faults[:MOST_FAULTS]) + more)
    return found


def _rows(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    try:
        yield from reader
    except csv.Error:
        raise BadFile("the file is no CSV") from None


def _window(number: int, cells: list[str]) -> Window:
    if len(cells) != len(HEAD):
        raise ValueError(f"has {len(cells)} cells, not {len(HEAD)}")
    try:
        starts, ends = datetime.fromisoformat(cells[1]), datetime.fromisoformat(cells[2])
    except ValueError:
        raise ValueError("a time is not RFC 3339") from None
    if starts.utcoffset() is None or ends.utcoffset() is None:
        raise ValueError("a time has no zone")
    if not all(1970 <= moment.year < 2200 for moment in (starts, ends)):
        raise ValueError("a time is not between 1970 and 2200")
    if ends <= starts:
        raise ValueError("ends before it starts")
    return Window(number, cells[0].strip().lower(), starts, ends)
