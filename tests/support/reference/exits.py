"""The exit codes of the command line."""

from __future__ import annotations

from postmill.cli.exits import MEANINGS
from tests.support.reference.markdown import code
from tests.support.reference.markdown import table as rows


def table() -> str:
    """Code, name and meaning."""
    return rows(("code", "meaning"), ((code(exit.value), meaning) for exit, meaning in MEANINGS.items()))
