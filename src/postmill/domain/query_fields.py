"""The words of the query language: each term, what its values are, and which index answers it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from postmill.domain.lifecycle import State

Kind = Literal["name", "choice", "id", "length", "number", "moment"]

RETRYING = "retrying"
"""What a scheduled job is shown as that has failed before."""

REPLAYED = "replayed"
"""What a dead letter is shown as that runs again as another job: it is open no longer, and `dead_letter` finds only open ones."""

STATES = (*(str(state) for state in State), RETRYING, REPLAYED)
SOURCES = ("manual", "event", "schedule", "system")


@dataclass(frozen=True, slots=True)
class Field:
    """One term of the language.

    Attributes:
        kind: name (text), choice (one of `choices`), id (a UUID, or its first 8 digits and more), length (`>1h`),
            number (`>3`), moment (`2h` ago, or a date).
        help: what it finds, for completion and documentation.
        example: a term as one would write it.
        index: how the database finds it.
        single: only one value, since several make no sense.
        positive: no `-` before it.
    """

    kind: Kind
    help: str
    example: str
    index: str
    choices: tuple[str, ...] = ()
    single: bool = False
    positive: bool = False


_WALK = "a test of the jobs met on the way"

FIELDS: Mapping[str, Field] = MappingProxyType({
    "type": Field("name", "of this job type (or an alias of it)", "type:SendEmail", "body by tenant and id"),
    "queue": Field("name", "in this queue", "queue:mailers,webhooks", "tickets by queue"),
    "state": Field("choice", "in this state", "state:dead_letter,retrying", "tickets and outcomes by state", STATES),
    "error": Field("name", "failed in this error group, or with this class", "error:3fa9", "attempts and outcomes by group"),
    "tenant": Field("name", "of this tenant", "tenant:acme", "body by tenant and id"),
    "trigger": Field("name", "made by this trigger", "trigger:nightly", "body by source, deliveries by trigger"),
    "worker": Field("name", "run by this worker, or on this host", "worker:w-12", "tickets and attempts by id"),
    "build": Field("name", "run by a worker of this build of the application", "build:shop-42", "tickets and attempts by id"),
    "id": Field("id", "with this id, or one that begins so", "id:0198f3c2-5b1e", "primary key"),
    "key": Field("name", "with this idempotency key", "key:order-4711", "keys by tenant"),
    "op": Field("id", "what a bulk operation acted on or made", "op:0198f3c2-5b1e", "items by operation"),
    "tag": Field("name", "with this tag", "tag:vip", "tags by tenant, tag and id"),
    "workflow": Field("id", "of this workflow", "workflow:0198f3c2-5b1e", "body by workflow"),
    "batch": Field("id", "of this batch", "batch:0198f3c2-5b1e", "body by workflow"),
    "source": Field("choice", "made by hand or code, an event, a schedule or the system", "source:event",
                    "body by tenant, source and id", SOURCES),
    "actor": Field("name", "enqueued by this user or API key", "actor:ann@example.com", _WALK),
    "correlation": Field("name", "with this correlation id", "correlation:order-4711", _WALK),
    "attempt": Field("number", "that many attempts have begun", "attempt:>3", _WALK, single=True),
    "age": Field("length", "enqueued so long ago", "age:>1h", "primary key", single=True, positive=True),
    "ran": Field("length", "whose last attempt took so long", "ran:>30s", _WALK, single=True),
    "since": Field("moment", "enqueued at or after this", "since:2h", "primary key", single=True, positive=True),
    "until": Field("moment", "enqueued before this", "until:2026-02-16T10:30Z", "primary key", single=True, positive=True),
})  # fmt: skip
"""All terms but `args.…`, in the order in which they are offered."""

ARGS = "args."
"""Before the path of an argument: `args.customer_id:4242`, `args.order.lines:3`."""

MEANT: Mapping[str, str] = MappingProxyType({
    "status": "state", "kind": "type", "definition": "type", "job_type": "type", "job": "id", "org": "tenant",
    "idempotency_key": "key", "dedupe_key": "key", "fingerprint": "error", "group": "error", "operation": "op",
    "from": "since", "after": "since", "to": "until", "before": "until", "attempts": "attempt", "arg": "args.",
    "payload": "args.", "by": "actor", "duration": "ran",
})  # fmt: skip
"""What people write, and the term that it is called here."""

ABSENT: Mapping[str, str] = MappingProxyType({
})  # fmt: skip
"""What others have, and jobs here have not."""
