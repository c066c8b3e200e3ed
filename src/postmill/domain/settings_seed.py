"""Seed 1's spelling of the settings (`villagecompute.jobs.*`, or a `jobs` tree), brought to our places."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from postmill.domain.errors import SettingsError
from postmill.domain.settings_keys import fold
from postmill.domain.suggest import did_you_mean

# The type that the seed's semaphore guards (policy P12). It is a limit of its own, beside the slots of the
# queue.
SCREENSHOT_TYPE = "SCREENSHOT_CAPTURE"

NAME = "<NAME>"

PLACES: Mapping[str, tuple[str, ...]] = {
    "base_delay": ("retry", "base_delay"),
    "max_attempts": ("retry", "max_attempts"),
    f"workers.{NAME}": ("queues", NAME, "slots"),
    f"poll_interval.{NAME}": ("queues", NAME, "poll_interval"),
    "screenshot_concurrency": ("job_types", SCREENSHOT_TYPE, "worker_limit"),
    "ai_tagging.monthly_budget": ("budgets", "ai-tagging", "monthly_limit"),
    "escalation.pagerduty_key": ("escalation", "pagerduty_key"),
    "escalation.slack_webhook": ("escalation", "slack_webhook"),
    "escalation.ops_email": ("escalation", "ops_email"),
}
"""Seed key → where it is kept."""


def translate(tree: Mapping[str, Any], source: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The tree without the seed's part, and that part in Postmill's keys. SettingsError for unknown ones."""
    native = dict(tree)
    made: dict[str, Any] = {}
    for key in tree:
        if key.casefold() == "villagecompute":
            inside = keys_below(native.pop(key), key, source)
            for name, jobs in inside.items():
                if name != "jobs":
                    raise SettingsError(f"unknown setting {f'{key}.{name}'!r} in {source}; known keys: jobs")
                _walk(keys_below(jobs, f"{key}.jobs", source), f"{key}.jobs.", (), source, made)
        elif key.casefold() == "jobs":
            _walk(keys_below(native.pop(key), key, source), "jobs.", (), source, made)
    return native, made


def _walk(
    tree: Mapping[Any, Any], shown: str, path: tuple[str, ...], source: str, made: dict[str, Any]
) -> None:
    for raw, value in tree.items():
        key = str(raw)
        for step in (fold(key), NAME):
            dotted = ".".join((*path, step))
            place = PLACES.get(dotted)
            if place is not None:
                _put(made, tuple(key if part == NAME else part for part in place), value)
                break
            if any(known.startswith(f"{dotted}.") for known in PLACES):
                _walk(keys_below(value, shown + key, source), f"{shown}{key}.", (*path, step), source, made)
                break
        else:
            below = [known.split(".") for known in PLACES]
            known = {
                parts[len(path)].replace("_", "-") for parts in below if parts[: len(path)] == list(path)
            }
            hint = did_you_mean(key, known, noun=f"keys of {shown.rstrip('.')!r}")
            raise SettingsError(f"unknown setting {shown + key!r} in {source}{hint}")


def _put(made: dict[str, Any], place: tuple[str, ...], value: Any) -> None:
    for part in place[:-1]:
        made = made.setdefault(part, {})
    made[place[-1]] = value


def keys_below(value: Any, key: str, source: str) -> Mapping[Any, Any]:
    """The keys that a setting holds; none where it is left empty. SettingsError where it is a value."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise SettingsError(f"setting {key!r} in {source} holds further keys, and is no value itself")
    return value
