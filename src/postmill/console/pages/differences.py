"""What changed from one object to another, field by field, without secrets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from postmill.domain.redaction import redacted

LONGEST = 400


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[tuple[str, str | None, str | None]]:
    """Fields that differ: name, before, after; None: it was not, or is no longer."""
    before, after = redacted(dict(before)), redacted(dict(after))
    names = sorted({*before, *after})
    return [
        (name, _shown(before, name), _shown(after, name))
        for name in names
        if before.get(name) != after.get(name)
    ]


def _shown(fields: Mapping[str, Any], name: str) -> str | None:
    value = fields.get(name)
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"
