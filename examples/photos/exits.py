"""Exit codes of `zoltag`, after sysexits.h, and how it says why."""

from __future__ import annotations

import sys

NO_INPUT = 66
"""There is no such thing in this tenant."""

UNAVAILABLE = 69
"""Dropbox is not to be had just now."""

NO_PERMISSION = 77
"""Dropbox refuses the token, or it cannot be read."""

NO_CONFIG = 78
"""The environment lacks a setting."""


def refuse(code: int, why: object) -> int:
    """Say why on stderr; the exit code."""
    print(f"zoltag: {why}", file=sys.stderr)
    return code
