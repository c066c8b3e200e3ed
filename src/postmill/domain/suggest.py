"""Did you mean: every unknown name is answered with what exists and what was probably meant (law 8)."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

# A list of more names than this helps nobody; the closest ones are shown instead.
SHOWN = 12


def suggest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was most probably meant, or None where nothing is near.

    Case and the choice between `-` and `_` never stand in the way of a suggestion.
    """
    by_folded: dict[str, str] = {}
    for candidate in known:
        by_folded.setdefault(_fold(candidate), candidate)
    near = difflib.get_close_matches(_fold(name), by_folded, n=1, cutoff=0.6)
    return by_folded[near[0]] if near else None


def did_you_mean(name: str, known: Iterable[str], *, noun: str) -> str:
    """The tail of an error message: `; did you mean 'x'? known <noun>: a, b`; empty if nothing is known."""
    names = sorted(set(known))
    if not names:
        return ""
    meant = suggest(name, names)
    shown = ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
    return (f"; did you mean {meant!r}?" if meant else ";") + f" known {noun}: {shown}"


def _fold(name: str) -> str:
    return name.casefold().replace("-", "_")
