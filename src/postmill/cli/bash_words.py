"""Words with `:` and `=` in them, which bash cuts into pieces before it asks for completions (COMP_WORDBREAKS)."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

_BREAK = re.compile(r"[:=]+")


@contextmanager
def whole_words() -> Iterator[None]:
    """Within it the parser sees the words of bash's question whole; bash hears what goes into the place of the last piece."""
    words, at, before = _whole(os.environ.get("COMP_WORDS", ""), os.environ.get("COMP_CWORD", ""))
    os.environ.update(COMP_WORDS="\n".join(words), COMP_CWORD=str(at))
    told = io.StringIO()
    try:
        with redirect_stdout(told):
            yield
    finally:
        sys.stdout.write(
            "".join(line.removeprefix(before) for line in told.getvalue().splitlines(keepends=True))
        )


def _whole(words: str, at: str) -> tuple[list[str], int, str]:
    """The words up to the cursor with their pieces joined, where the last one stands among them, and what bash has of
    that one already. Whether there was a space before a piece bash does not tell.
    """
    pieces = words.split("\n") if "\n" in words else words.split()
    last = int(at) if at.isdecimal() else len(pieces)
    pieces = [*pieces[:last], *([""] if last >= len(pieces) else pieces[last : last + 1])]
    whole: list[str] = []
    before, joined = "", False
    for piece in pieces:
        is_break = _BREAK.fullmatch(piece) is not None
        if whole and piece and (is_break or joined):
            before = whole[-1] + (piece if is_break else "")
            whole[-1] += piece
        else:
            before = ""
            whole.append(piece)
        joined = is_break
    if before.startswith("--"):
        before = before.partition("=")[2]  # the parser offers what an option takes without its name
    return whole, len(whole) - 1, before
