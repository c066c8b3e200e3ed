"""The client for code that blocks."""

from __future__ import annotations

from types import TracebackType
from typing import Self

import httpx

from postmill.http.blocking import Group, Wire, blocking
from postmill.http.calls import access, health
from postmill.http.calls import stats as on_stats
from postmill.http.groups import (
    Archive,
    Artifacts,
    Audit,
    Budgets,
    Cells,
    DeadLetters,
    Definitions,
    Errors,
    Events,
    Health,
    Incidents,
    Jobs,
    Keys,
    Limits,
    Operations,
    Queues,
    Retention,
    Tenants,
    Triggers,
    Webhooks,
    Work,
    Workers,
    Workflows,
)
from postmill.http.place import find_place


class ApiClient(Group):
    """The HTTP API of a Postmill server. A context manager; may be used by several threads.

    The operations are grouped: `api.jobs.enqueue(…)`, `api.dead_letters.list()`. `list` gives one page, `each` iterates over
    the items of all pages.

    A request is tried again where that is safe: if no connection came about, on 429, and, unless it is a claim, where the
    answer was lost or is 502, 503 or 504. Requests that change something carry an Idempotency-Key, so that they are done
    once however often they are sent.

    Args:
        base_url: where the server is, with its path if it has one, without `/api/v1`; None: the setting `api.url`.
        key: the API key; None: the setting `api.key`.
        timeout: seconds that the server may take to be connected to, or to go on with an answer.
        retry_for: seconds, from the first try on, within which another one begins; 0: one try only. Where `Retry-After`
            leads beyond it, the error is raised at once.
        transport: another way than httpx's own to send requests, e.g. with certificates or through a proxy.

    Raises:
        SettingsError: nothing names the server or the key.
        ApiError: (every operation) the server refused; see its subclasses.
        Unreachable, UnexpectedAnswer: (every operation) no answer came, or none that this version understands.
    """

    def __init__(
        self,
        base_url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = 30.0,
        retry_for: float = 30.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        url, headers = find_place(base_url, key)
        made = httpx.Client(base_url=url, headers=headers, timeout=timeout, transport=transport)
        wire = Wire(made, timeout, retry_for)
        super().__init__(wire)
        self.jobs = Jobs(wire)
        self.workflows = Workflows(wire)
        self.dead_letters = DeadLetters(wire)
        self.operations = Operations(wire)
        self.errors = Errors(wire)
        self.definitions = Definitions(wire)
        self.triggers = Triggers(wire)
        self.events = Events(wire)
        self.webhooks = Webhooks(wire)
        self.incidents = Incidents(wire)
        self.queues = Queues(wire)
        self.limits = Limits(wire)
        self.budgets = Budgets(wire)
        self.workers = Workers(wire)
        self.work = Work(wire)
        self.artifacts = Artifacts(wire)
        self.tenants = Tenants(wire)
        self.cells = Cells(wire)
        self.keys = Keys(wire)
        self.audit = Audit(wire)
        self.retention = Retention(wire)
        self.archive = Archive(wire)
        self.health = Health(wire)

    stats = blocking(on_stats.get_stats)
    whoami = blocking(access.get_session)
    openapi = blocking(health.get_openapi)

    def close(self) -> None:
        """Closes the connections."""
        self._wire.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
