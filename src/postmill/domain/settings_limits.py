"""Limits over the whole fleet in settings."""

from __future__ import annotations

from postmill.domain import duration
from postmill.domain.limit import Limit, Rate


def parse_rate(text: str) -> Rate:
    """A rate such as `1/1s` or `120/1m`. ValueError for anything else."""
    count, slash, length = text.partition("/")
    if not slash or not count.strip().isdigit():
        raise ValueError(f"{text!r} is no rate; write how many per which time: 1/1s, 120/1m")
    return Rate(int(count), duration.parse(length, "the time of a rate"))


def check_rate(value: str | None) -> str | None:
    """`value` if it is None or a rate; ValueError otherwise."""
    if value is not None:
        parse_rate(value)
    return value


def limits_of(max_running: int | None, rate: str | None) -> tuple[Limit, ...] | None:
    """What settings say of all jobs together; None: nothing."""
    if max_running is None and rate is None:
        return None
    return (Limit(max_running, None if rate is None else parse_rate(rate)),)
