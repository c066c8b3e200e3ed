"""The settings, from the descriptions of their fields."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from postmill.domain.settings import Settings
from postmill.domain.settings_keys import Key, keys, shape
from tests.support.reference.markdown import code, table


def tables() -> str:
    """A table per section."""
    parts = []
    for title, about, rows in _sections():
        lines = [(code(key.path), _default(key), code(variable(key)), key.description) for key in rows]
        parts.append(
            f"### {title}\n\n{about}\n\n{table(('key', 'default', 'environment', 'meaning'), lines)}"
        )
    return "\n".join(parts)


def variable(key: Key) -> str:
    """The environment variable of a setting."""
    return "POSTMILL_" + key.path.upper().replace(".", "__")


def _sections() -> Iterator[tuple[str, str, list[Key]]]:
    every = list(keys(Settings))
    yield "Of the whole", "At the top of the file.", [key for key in every if "." not in key.path]
    for name, field in Settings.model_fields.items():
        _, section = shape(field)
        rows = [key for key in every if key.path.startswith(f"{field.alias or name}.")]
        if section is not None and rows:
            prefix = rows[0].path.rpartition(".")[0]
            yield code(prefix), (section.__doc__ or "").strip(), rows


def _default(key: Key) -> str:
    if key.default is None:
        return "none"
    if isinstance(key.default, bool):
        return code("true" if key.default else "false")
    if isinstance(key.default, float | Decimal) and float(key.default).is_integer():
        return code(int(key.default))
    return code(list(key.default) if isinstance(key.default, tuple) else key.default)
