"""The client for code that blocks. Each operation is one line; what it does is written once, in `flows`."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from postmill import bind
from postmill.artifacts.storage import Storage
from postmill.client import flows, publishing, workflow_care, workflow_flows
from postmill.client.address import find_database, find_store, may_prepare
from postmill.client.artifact_flows import Place
from postmill.client.artifacts import Artifacts, not_awaited
from postmill.client.pools import Pool
from postmill.client.waiting import wait
from postmill.store.catalog import DEFAULT_SCHEMA, checked_schema
from postmill.store.flow import Flow, Pause
from postmill.store.statement import Statement

P = ParamSpec("P")
T = TypeVar("T")
Build = Callable[Concatenate[str, P], Flow[T]]


def blocking(build: Build[P, T], *, atomic: bool = False) -> Callable[Concatenate[Client, P], T]:
    """A method that runs what `build` makes on the client's own connections; `atomic`: in one transaction."""

    @functools.wraps(build)
    def method(self: Client, /, *args: P.args, **kwargs: P.kwargs) -> T:
        flow = build(self.schema, *args, **kwargs)
        return self._atomically(flow) if atomic else self._stepwise(flow)

    return method


class Client:
    """Enqueues and looks after jobs on connections of its own: use it where no transaction of yours is open.

    Safe for threads and across forks. The database is found by the argument, else the settings and
    POSTMILL_DATABASE_URL, else ./.postmill/postmill.env; it is connected to at the first use.

    Args:
        conninfo: libpq connection string or URL.
        schema: where Postmill's tables are.
        connections: the most connections that are open at once.
        prepared_statements: whether what is run often may be prepared on the server, which not every pooler bears;
            None: as the setting of that name says (true, where it says nothing).

    Raises:
        DatabaseMissing: no database is named, or (at the first use) it cannot be reached.
        SchemaTooNew: at the first use, if a newer version made a breaking change to the schema.
        SettingsError: the settings cannot be read.
    """

    def __init__(
        self,
        conninfo: str | None = None,
        *,
        schema: str = DEFAULT_SCHEMA,
        connections: int = 10,
        prepared_statements: bool | None = None,
    ) -> None:
        self.schema = checked_schema(schema)
        self._dsn = find_database(conninfo)
        self._pool = Pool(
            self._dsn, connections, schema=self.schema, prepared=may_prepare(prepared_statements)
        )

    @functools.cached_property
    def artifacts(self) -> Artifacts:
        """Files that jobs read or made. Their store is found as the database is: by the setting `artifacts.url`, else what
        `postmill up` left."""
        return Artifacts(Place(self.schema, Storage(find_store(self._dsn))), self._one, not_awaited)

    enqueue = blocking(flows.enqueue)
    enqueue_many = blocking(flows.enqueue_many, atomic=True)
    get = blocking(flows.get)
    wait = blocking(wait)
    cancel = blocking(flows.cancel)
    retry = blocking(flows.retry)
    replay = blocking(flows.replay)
    register = blocking(flows.register)
    publish = blocking(publishing.publish, atomic=True)
    start_workflow = blocking(workflow_flows.start_workflow, atomic=True)
    start_batch = blocking(workflow_flows.start_batch, atomic=True)
    open_batch = blocking(workflow_flows.open_batch, atomic=True)
    add_to_batch = blocking(workflow_flows.add_to_batch, atomic=True)
    seal_batch = blocking(workflow_flows.seal_batch)
    workflow = blocking(workflow_care.workflow)
    workflow_graph = blocking(workflow_care.workflow_graph)
    workflows = blocking(workflow_care.workflows)
    cancel_workflow = blocking(workflow_care.cancel_workflow)
    retry_workflow = blocking(workflow_care.retry_workflow)
    release_steps = blocking(workflow_care.release_steps)

    def close(self) -> None:
        """Closes the connections; using the client again opens new ones."""
        self._pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def _one(self, statement: Statement[T]) -> T:
        with self._pool.connection() as conn:
            return bind.run(conn, statement)

    def _atomically(self, flow: Flow[T]) -> T:
        with self._pool.connection() as conn, conn.transaction():
            return bind.drive(conn, flow)

    def _stepwise(self, flow: Flow[T]) -> T:
        answer: Any = None
        while True:
            try:
                step = flow.send(answer)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            if isinstance(step, Pause):
                time.sleep(step.seconds)
                answer = None
            else:
                with self._pool.connection() as conn:
                    answer = bind.step(conn, step)
