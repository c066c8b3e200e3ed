"""What a token says of itself, before anybody has checked it: good enough to find the way, for nothing else."""

from __future__ import annotations

import base64
import json


def claimed(token: str, claim: str) -> str | None:
    """A claim of a JSON Web Token that is text; None: it has none, or is no such token."""
    parts = token.split(".")
    if len(parts) != 3:
        return None
    try:
        found = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except ValueError:
        return None
    value = found.get(claim) if isinstance(found, dict) else None
    return value if isinstance(value, str) else None
