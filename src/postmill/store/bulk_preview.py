"""The statement that tells what a bulk act would meet."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from postmill.domain.pace import Kind
from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Rows, Statement


@dataclass(frozen=True, slots=True)
class Named:
    """So many jobs of a tenant, queue, state or age."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class TypeShare:
    """So many jobs of a type, made under a version of its definition.

    `state`: current | changed (the definition is at `now`) | inactive (takes no new jobs) | unknown_type (it is gone).
    """

    job_type: str
    version: int | None
    now: int | None
    replay_class: str | None
    state: str
    count: int


@dataclass(frozen=True, slots=True)
class Alike:
    """So many jobs to which the same happens, whatever is chosen.

    Attributes:
        fits: whether their state is one in which the act does something; `state` replayed: a letter that was so before.
        gone: their definition is gone or takes no new jobs; changed: it has another version.
        version_gone: nobody can run the version that they were made under.
        done_since: a later job has done the same.
    """

    fits: bool
    state: str
    replay_class: str | None
    gone: bool
    done_since: bool
    changed: bool
    version_gone: bool
    count: int


@dataclass(frozen=True, slots=True)
class ErrorShare:
    """So many jobs that ended with an error."""

    error_class: str
    error_group: str | None
    count: int


@dataclass(frozen=True, slots=True)
class BulkPreview:
    """What a bulk act on the jobs of a query would meet. Nothing is done.

    Attributes:
        count: how many were counted; all of them if `complete`, else there are more.
        cut_off: jobs with ids from here on are not meant.
        looked_at: of how many, the newest, the rest is told.
        fit: how many of these the act can touch, by their state.
        by_age: 1h, 24h, 7d and older: enqueued so long ago.
        by_build: which builds of the application failed them, of the newest 1,000 that tell; `builds_now`: which of them live
            workers that serve these job types run now. Empty outside of the platform.
        never, ask: of definitions with this `replay_class`.
        succeeded_since: of which a later job with the same key, or the same type and payload, has succeeded.
        past_deadline: whose `expires_at` has passed.
        version_changed: whose definition has changed since.
        version_gone: made under a version of their definition that nobody can run any more. version_unserved: by the version
            that they were made under, those that no live worker runs now.
        gone: whose definition is gone or takes no new jobs.
        over_budget: of tenants whose budget would not let them run.
        groups: the same jobs by all that decides whether the act does something.
    """

    count: int
    complete: bool
    cut_off: UUID
    looked_at: int
    fit: int
    tenants: int
    oldest: datetime | None
    newest: datetime | None
    by_tenant: list[Named]
    by_type: list[TypeShare]
    by_error: list[ErrorShare]
    by_age: list[Named]
    by_state: list[Named]
    by_build: list[Named]
    builds_now: list[Named]
    never: int
    ask: int
    succeeded_since: int
    past_deadline: int
    version_changed: int
    version_gone: int
    version_unserved: list[Named]
    gone: int
    paused_queues: list[Named]
    over_budget: list[Named]
    groups: list[Alike]

    def touched(
        self,
        kind: Kind,
        *,
        again: bool,
        confirm: bool,
        despite_success: bool,
        same_version: bool,
        original_version: bool = False,
    ) -> int:
        """To how many of those looked at an act of this kind does something, with these of `Pace`."""

        def acts(one: Alike) -> bool:
            if not one.fits:
                return kind == "replay" and again and one.state == "replayed" and reruns(one)
            return kind not in ("replay", "retry") or one.state == "scheduled" or reruns(one)

        def reruns(one: Alike) -> bool:
            if one.gone or one.replay_class == "never" or (one.replay_class == "ask" and not confirm):
                return False
            return kind == "retry" or not (
                (one.done_since and not despite_success)
                or (one.changed and same_version)
                or (one.version_gone and original_version)
            )

        return sum(one.count for one in self.groups if acts(one))


def read_operation_preview(
    kind: Kind,
    matching: Mapping[str, Any],
    *,
    cut_off: UUID | None = None,
    most: int = 100_000,
    sample: int = 10_000,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[BulkPreview]:
    """What a bulk act on these jobs would meet; counted up to `most` or for a second, told of the newest `sample`."""
    args = (kind, json.dumps(matching), cut_off, most, sample)
    return Statement(
        "read_operation_preview", sql("operations/read_operation_preview", schema), args, _preview
    )


def _preview(rows: Rows) -> BulkPreview:
    found = json.loads(rows[0][0])
    for name in ("oldest", "newest"):
        found[name] = None if found[name] is None else datetime.fromisoformat(found[name])
    for name in (
        "by_tenant",
        "by_age",
        "by_state",
        "by_build",
        "builds_now",
        "paused_queues",
        "over_budget",
        "version_unserved",
    ):
        found[name] = [Named(**one) for one in found[name]]
    found["by_type"] = [TypeShare(**one) for one in found["by_type"]]
    found["by_error"] = [ErrorShare(**one) for one in found["by_error"]]
    found["groups"] = [Alike(**one) for one in found["groups"]]
    found["cut_off"] = UUID(found["cut_off"])
    return BulkPreview(**found)
