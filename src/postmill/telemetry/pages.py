"""Two pages of metrics as one: of processes that are scraped by one address."""

from __future__ import annotations

from dataclasses import dataclass, field

ADDED = frozenset({"counter", "histogram", "summary"})
"""Kinds whose samples add up."""


@dataclass
class _Family:
    kind: str = "untyped"
    head: list[str] = field(default_factory=list)
    samples: dict[str, str] = field(default_factory=dict)


def merged(first: bytes, second: bytes) -> bytes:
    """One page in Prometheus' text format, with each family once.

    Counters and histograms are added up; of anything else the first page's word counts where both have one.
    """
    families = _read(first)
    for name, other in _read(second).items():
        family = families.setdefault(name, other)
        if family is other:
            continue
        for sample, value in other.samples.items():
            known = family.samples.get(sample)
            if known is None:
                family.samples[sample] = value
            elif family.kind in ADDED:
                family.samples[sample] = _written(float(known) + float(value))
    lines = [
        line
        for family in families.values()
        for line in (*family.head, *(f"{sample} {value}" for sample, value in family.samples.items()))
    ]
    return ("\n".join(lines) + "\n").encode() if lines else b""


def _written(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)


def _read(page: bytes) -> dict[str, _Family]:
    families: dict[str, _Family] = {}
    family = _Family()
    for line in page.decode().splitlines():
        if line.startswith("# "):
            _, word, name, *more = line.split(" ", 3)
            family = families.setdefault(name, _Family())
            family.head.append(line)
            if word == "TYPE":
                family.kind = more[0]
        elif line:
            sample, _, value = line.rpartition(" ")
            family.samples[sample] = value
    return families
