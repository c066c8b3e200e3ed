"""`python -m examples NAME`: starts the example of that name; `make example NAME=enrichment` comes here."""

from __future__ import annotations

import os
import sys
from difflib import get_close_matches
from pathlib import Path


def names() -> list[str]:
    """Examples that can be started."""
    return sorted(path.parent.name for path in Path(__file__).parent.glob("*/__main__.py"))


def main(words: list[str]) -> None:
    """Becomes the example; exit code 2 and a list where there is none of that name."""
    name = words[0] if words else ""
    if name not in names():
        sys.exit(_refused(name))
    os.execv(sys.executable, [sys.executable, "-m", f"examples.{name}", *words[1:]])


def _refused(name: str) -> int:
    near = get_close_matches(name, names(), n=1)
    meant = f" did you mean {near[0]!r}?" if near else ""
    known = f"known examples: {', '.join(names())}"
    print(f"error: there is no example {name!r};{meant} {known}", file=sys.stderr)
    print(f"  → as in: make example NAME={names()[0]}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    main(sys.argv[1:])
