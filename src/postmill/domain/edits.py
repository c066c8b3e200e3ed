"""Edits of a payload: a merge patch, and what an edit changed, as it may be written into the audit log."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from postmill.domain.redaction import REDACTED, hidden, redacted

MOST = 50
"""Changes that are listed; a further entry says how many there are besides."""

LONGEST = 200
"""Characters of a text that are listed."""

_NOTHING: Any = object()


def merged(old: Any, patch: Any) -> Any:
    """`old` after a JSON merge patch (RFC 7396): what it names is set, null takes away, the rest stays."""
    if not isinstance(patch, Mapping):
        return patch
    made = dict(old) if isinstance(old, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            made.pop(key, None)
        else:
            made[key] = merged(made.get(key), value)
    return made


def changes(old: Any, new: Any, names: Collection[str] = (), *, hide: bool = False) -> list[dict[str, Any]]:
    """What differs, each as `{"path": JSON pointer, "before": …, "after": …}`; without `before` it is new.

    Args:
        names: further names of secrets, as the definition has them.
        hide: show no values at all: the payload is encrypted where it lies.
    """
    made = []
    found = list(_differing(old, new, names, "", hide))
    for path, before, after in found[:MOST]:
        one: dict[str, Any] = {"path": path or "/"}
        if before is not _NOTHING:
            one["before"] = REDACTED if hide else _shown(before, names)
        if after is not _NOTHING:
            one["after"] = REDACTED if hide else _shown(after, names)
        made.append(one)
    if len(found) > MOST:
        made.append({"path": "…", "after": f"{len(found) - MOST} more"})
    return made


def _differing(
    old: Any, new: Any, names: Collection[str], path: str, hide: bool
) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in [*old, *(key for key in new if key not in old)]:
            before, after = old.get(key, _NOTHING), new.get(key, _NOTHING)
            at = f"{path}/{key.replace('~', '~0').replace('/', '~1')}"
            if before is _NOTHING or after is _NOTHING or _secret(key, before, after, names):
                if before is _NOTHING or after is _NOTHING or not _same(before, after):
                    yield at, _covered(key, before, names), _covered(key, after, names)
            else:
                yield from _differing(before, after, names, at, hide)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for n, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from _differing(before, after, names, f"{path}/{n}", hide)
    elif not _same(old, new):
        yield path, old, new


def _same(old: Any, new: Any) -> bool:
    return type(old) is type(new) and bool(old == new)


def _secret(key: str, before: Any, after: Any, names: Collection[str]) -> bool:
    return hidden(key, before, names) or hidden(key, after, names)


def _covered(key: str, value: Any, names: Collection[str]) -> Any:
    return REDACTED if value is not _NOTHING and hidden(key, value, names) else value


def _shown(value: Any, names: Collection[str]) -> Any:
    found = redacted(value, names)
    return found[:LONGEST] + "…" if isinstance(found, str) and len(found) > LONGEST else found
