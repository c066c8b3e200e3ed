"""Who types."""

from __future__ import annotations

import getpass


def who() -> str:
    """The operator, as history will name them."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
