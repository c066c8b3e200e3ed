"""A traceback in parts: the user's own frames in the open, those of libraries folded."""

from __future__ import annotations

import re
from dataclasses import dataclass

from postmill.domain.own_frame import is_own

_FRAME = re.compile(r'^  (?:[|+ ]*)File "(?P<file>[^"]*)", line \d+, in ')

MOST_LINES = 400


@dataclass(frozen=True, slots=True)
class Part:
    """Lines that belong together. `frames`: how many library frames are folded here; 0: shown as it is."""

    text: str
    frames: int = 0


def folded(stack: str | None) -> list[Part]:
    """The parts of a stack as Python prints it; what is no Python stack is one part. Long ones lose their middle."""
    if not stack:
        return []
    lines = stack.rstrip().splitlines()
    if len(lines) > MOST_LINES:
        half = MOST_LINES // 2
        lines = [*lines[:half], "  …", *lines[-half:]]
    parts: list[tuple[bool, int, list[str]]] = []
    foreign = False
    for line in lines:
        frame = _FRAME.match(line)
        if frame is not None:
            foreign = not is_own(frame["file"])
        elif not line.startswith("    "):
            foreign = False
        if not parts or parts[-1][0] != foreign:
            parts.append((foreign, 0, []))
        hidden, frames, some = parts[-1]
        some.append(line)
        parts[-1] = (hidden, frames + (frame is not None and foreign), some)
    return [Part("\n".join(some), frames if hidden else 0) for hidden, frames, some in parts]
