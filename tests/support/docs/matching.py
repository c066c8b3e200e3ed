"""Does a command's output look as the page shows it?

Loosely: white space counts as one space, `…` stands for anything within a line and alone for any lines, lengths of
time differ, and `01a2…` stands for an id: the same one wherever the page shows it.
"""

from __future__ import annotations

import re

ID = re.compile(r"01[0-9a-f]{2,}…")
_WHOLE_ID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_LENGTH = re.compile(r"\d+(?:\.\d+)? (?:ms|s|min|h|d)\b(?: \d+ (?:s|min|h)\b)?")
_ANY_LENGTH = r"\d+(?:\.\d+)? (?:ms|s|min|h|d)\b(?: \d+ (?:s|min|h)\b)?"
_PART = re.compile(rf"(?P<id>{ID.pattern})|(?P<any>…)|(?P<length>{_LENGTH.pattern})|(?P<space>\s+)")
_RULE = re.compile(r"[─ ]*")

Ids = dict[str, str]
"""Ids by the placeholder that the page has for them."""


def match(expected: str, output: str, ids: Ids) -> bool:
    """Whether `output` looks like `expected`; new placeholders are bound in `ids`."""
    bound: dict[str, str] = {}
    pattern = "".join(
        r"(?:[^\n]*\n)*?" if line == "…" else f"{_line(line, ids, bound)}\n" for line in _lines(expected)
    )
    found = re.fullmatch(pattern, "".join(f"{line}\n" for line in _lines(output)))
    if found is None:
        return False
    ids.update({placeholder: found[group] for group, placeholder in bound.items()})
    return True


def substituted(command: str, ids: Ids) -> str:
    """The command with the real ids in it.

    Raises:
        KeyError: no output has shown this id yet.
    """
    return ID.sub(lambda found: ids[found[0]], command)


def _lines(text: str) -> list[str]:
    """The lines without superfluous white space; empty ones and the rules of tables are left out."""
    return [" ".join(line.split()) for line in text.splitlines() if not _RULE.fullmatch(line.strip())]


def _line(line: str, ids: Ids, bound: dict[str, str]) -> str:
    made, at = [], 0
    for part in _PART.finditer(line):
        made.append(re.escape(line[at : part.start()]))
        made.append(_piece(part, ids, bound))
        at = part.end()
    made.append(re.escape(line[at:]))
    return "".join(made)


def _piece(part: re.Match[str], ids: Ids, bound: dict[str, str]) -> str:
    if part["space"]:
        return " "
    if part["length"]:
        return _ANY_LENGTH
    if part["any"]:
        return r"[^\n]*"
    placeholder = part["id"]
    if placeholder in ids:
        return re.escape(ids[placeholder])
    group = next((group for group, known in bound.items() if known == placeholder), None)
    if group is not None:
        return f"(?P={group})"
    group = f"id{len(bound)}"
    bound[group] = placeholder
    return f"(?P<{group}>{_WHOLE_ID})"
