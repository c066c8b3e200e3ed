"""Links in descriptions: `Runbook: https://…` on a line of its own, or anywhere in the text."""

from __future__ import annotations

import re

_LINK = re.compile(r"https?://[^\s<>\"'\\^`{|}]+")
MOST = 5


def named_links(text: str) -> list[tuple[str, str]]:
    """Names and addresses, at most five: the name is what stands before the colon on the same line, else the address."""
    found = []
    for line in text.splitlines():
        for match in _LINK.finditer(line):
            address = match[0].rstrip(".,;:!?)]")
            before = line[: match.start()].rstrip()
            name = before[:-1].strip() if before.endswith(":") else ""
            found.append((name if 0 < len(name) <= 40 else address, address))
    return found[:MOST]
