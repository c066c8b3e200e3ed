"""What each section of an example's design names: rows of its tables, fields, endpoints, metrics, events.

`NAME.txt` beside this file holds them: a line without indent is a section, as it stands in bold in the README's table; below it
what the section names, parted by ` · `.
"""

from __future__ import annotations

from pathlib import Path


def named(example: str) -> dict[str, list[str]]:
    """By section. OSError where the example has no design here."""
    made: dict[str, list[str]] = {}
    for line in Path(__file__).with_name(f"{example}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            made[list(made)[-1]] += line.strip().split(" · ")
        else:
            made[line] = []
    return made
