"""The settings, from the descriptions of their fields."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from postmill.domain.settings import Settings
from postmill.domain.settings_keys import Key, keys, shape
from tests.support.reference.markdown import code, table

LATER = (
    *(f"queues.<NAME>.{name}" for name in ("owner", "contact", "color", "sla", "escalation")),
    *(f"retention.{name}" for name in ("dead_letter", "archive_after", "archive_url")),
    *(f"escalation.{name}" for name in ("pagerduty_key", "slack_webhook", "ops_email")),
    *(f"budgets.<NAME>.{name}" for name in ("monthly_limit", "unit")),
)
"""Settings that are read and checked, and that nothing heeds yet: a test looks for who uses them."""


def tables() -> str:
    """A table per section, of what has an effect."""
    parts = []
    for title, about, rows in _sections():
        lines = [(code(key.path), _default(key), code(variable(key)), key.description) for key in rows]
        parts.append(
            f"### {title}\n\n{about}\n\n{table(('key', 'default', 'environment', 'meaning'), lines)}"
        )
    return "\n".join(parts)


def later() -> str:
    """What has a place already."""
    rows = [(code(key.path), key.description) for key in keys(Settings) if key.path in LATER]
    return table(("key", "meaning"), rows)


def variable(key: Key) -> str:
    """The environment variable of a setting."""
    return "POSTMILL_" + key.path.upper().replace(".", "__")


def _sections() -> Iterator[tuple[str, str, list[Key]]]:
    heeded = [key for key in keys(Settings) if key.path not in LATER]
    yield "Of the whole", "At the top of the file.", [key for key in heeded if "." not in key.path]
    for name, field in Settings.model_fields.items():
        _, section = shape(field)
        rows = [key for key in heeded if key.path.startswith(f"{field.alias or name}.")]
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
