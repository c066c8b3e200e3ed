"""Definitions in words: how they are tried again, what they hold apart, what changed from version to version."""

from __future__ import annotations

from itertools import pairwise

from postmill.console.frame.shown import seconds
from postmill.console.frame.words import _
from postmill.console.pages.differences import changes
from postmill.domain.retry import DEFAULT, from_json, planned
from postmill.store.definition_rows import DefinitionVersion, DefinitionView

SHOWN_DELAYS = 4


def retry_delays(definition: DefinitionView) -> list[float]:
    """Seconds before the second attempt, the third and so on, without jitter; at most twenty."""
    try:
        policy = DEFAULT if definition.retry is None else from_json(definition.retry)
    except (TypeError, ValueError):
        return []
    return planned(policy, min(definition.max_attempts, 21))


def retry_words(definition: DefinitionView) -> str:
    """`3 attempts: 30 s, 5 min`."""
    told = _("%s attempts") % definition.max_attempts if definition.max_attempts > 1 else _("one attempt")
    delays = [seconds(delay) for delay in retry_delays(definition)]
    if not delays:
        return told
    more = ", …" if len(delays) > SHOWN_DELAYS else ""
    return f"{told}: {', '.join(delays[:SHOWN_DELAYS])}{more}"


def limits_words(definition: DefinitionView) -> str:
    """How many at once and how often; empty: without a limit of its own."""
    found = []
    if definition.worker_limit is not None:
        found.append(_("%s at once on a worker") % definition.worker_limit)
    if definition.rate is not None:
        count, length = definition.rate["count"], seconds(definition.rate["seconds"])
        found.append(_("{n} starts in {time}").format(n=count, time=length))
    return ", ".join(found)


def unique_words(definition: DefinitionView) -> str:
    """What its idempotency keys hold apart; empty: nothing."""
    if definition.idempotency is None:
        return ""
    ttl = definition.idempotency_ttl_seconds
    return definition.idempotency if ttl is None else f"{definition.idempotency}, {seconds(ttl)}"


def with_changes(
    versions: list[DefinitionVersion],
) -> list[tuple[DefinitionVersion, list[tuple[str, str | None, str | None]]]]:
    """Each version, the newest first, with what it changed; the last one is only there to compare with, unless it is 1."""
    shown = [(one, changes(older.definition, one.definition)) for one, older in pairwise(versions)]
    if versions and versions[-1].version == 1:
        shown.append((versions[-1], []))
    return shown
