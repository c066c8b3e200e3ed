"""What the tests share: the API, the providers' stand-ins, workers in this process, a clock to turn."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row
from pydantic import SecretStr

from examples.planner.settings import Settings
from examples.planner.tests.labour import ALL, HURRY, IDLE, labouring
from examples.planner.web import create_app
from examples.upstreams.alerts.mailbox import Mailbox
from examples.upstreams.messages.server import MessageServer
from postmill import Worker
from tests.support.workers import until

ORG, OTHER = UUID("1efe049f-ae71-4226-97be-236b4df4a93a"), UUID("2efe049f-ae71-4226-97be-236b4df4a93b")
Row = dict[str, Any]


@dataclass
class Office:
    """The application of one test. `http` speaks as Olga, who owns the organization."""

    dsn: str
    conn: AsyncConnection[Any]
    http: httpx.AsyncClient
    service: MessageServer
    mailbox: Mailbox
    files: Path

    async def ask(self, method: str, path: str, status: int = 200, *, who: str = "olga", **more: Any) -> Any:
        """A request below the organization, as `who`; what it answered, as JSON."""
        headers = {"Authorization": f"Bearer {who}"} | more.pop("headers", {})
        answer = await self.http.request(method, f"/api/orgs/{ORG}{path}", headers=headers, **more)
        assert answer.status_code == status, f"{answer.status_code}: {answer.text}"
        return answer.json() if answer.content else None

    async def project(self, name: str = "Chapel festival", *, ready: bool = True) -> str:
        """The path of a project, provisioned."""
        made = await self.ask("POST", "/projects", 201, json={"name": name})
        if ready:
            await self.conn.execute("update planner.project set ready_at = postmill.now()")
            await self.conn.execute(
                "insert into planner.run_sheet (org_id, project_id) values (%s, %s)", [ORG, made["id"]]
            )
        return f"/projects/{made['id']}"

    async def mission(
        self, project: str, title: str = "Load-in", at: str = "2031-05-05T08:00", **more: Any
    ) -> str:
        """The id of a mission of four hours."""
        ends = f"{at[:11]}{int(at[11:13]) + 4:02d}{at[13:]}"
        body = {"title": title, "skill": "rigging", "starts_at": f"{at}:00Z", "ends_at": f"{ends}:00Z"} | more
        made = await self.ask("POST", f"{project}/missions", 201, json=body)
        id: str = made["id"]
        return id

    async def assign(self, project: str, mission: str, name: str = "Ann", **more: Any) -> Row:
        """Somebody onto a mission."""
        body = {"collaborator_id": str(await self.person(name))}
        made: Row = await self.ask("PUT", f"{project}/missions/{mission}/assignment", json=body, **more)
        return made

    async def past_the_api(self, payload: object, key: str = "k", **more: object) -> None:
        """A job `staffing.refresh` of Olga's by plain SQL, with a whole envelope; `more` are further arguments."""
        given = {
            "tenant": str(ORG),
            "actor_type": "user",
            "actor_id": "olga",
            "request_id": "r",
            "correlation_id": "c",
        }
        arguments = {
            "job_type": "staffing.refresh",
            "payload": json.dumps(payload),
            "key": key,
            **given,
            **more,
        }
        words = ", ".join(f"{name} => %s" for name in arguments)
        await self.conn.execute(f"select postmill.enqueue({words})".encode(), list(arguments.values()))

    async def person(self, name: str) -> UUID:
        """The id of a collaborator."""
        found: UUID = (await self.row("select id from planner.collaborator where name = %s", name))["id"]
        return found

    async def job(self, job_id: object) -> Row:
        """Where a job is, and what came of it."""
        return await self.row("select * from postmill.job_state(array[%s::uuid])", job_id)

    async def row(self, query: str, *values: object) -> Row:
        """The only row of a query."""
        [found] = await self.rows(query, *values)
        return found

    async def rows(self, query: str, *values: object) -> list[Row]:
        """The rows of a query."""
        async with self.conn.cursor(row_factory=dict_row) as cursor:
            await cursor.execute(query.encode(), values)
            return await cursor.fetchall() if cursor.description else []

    @asynccontextmanager
    async def work(self, *types: Any, later: str = "0 s", **more: Any) -> AsyncIterator[Worker]:
        """A worker, so much later than now, while the block runs; `types` of a test's own are served, too."""
        async with labouring(self.later(later), self.files, *types, **more) as worker:
            yield worker

    async def idle(self, *, later: str = "0 s", hurry: bool = False) -> None:
        """Wait until nothing due is left; `hurry`: further attempts are due at once, as by `postmill jobs retry`."""
        queries = (HURRY, ALL) if hurry else (IDLE,)
        async with await AsyncConnection.connect(self.later(later), autocommit=True) as looking:

            async def done() -> bool:
                answers = [await (await looking.execute(query.encode())).fetchone() for query in queries]
                return all(answer is not None and answer[0] for answer in answers)

            await until(done)

    async def run(self, later: str = "0 s", *, hurry: bool = False, **more: Any) -> None:
        """Let a worker do all that is due so much later."""
        async with self.work(later=later, **more):
            await self.idle(later=later, hurry=hurry)

    def later(self, offset: str) -> str:
        """Connections whose clock is so much ahead."""
        return make_conninfo(
            self.dsn, options=f"-c postmill.clock_offset={offset.replace(' ', chr(92) + ' ')}"
        )

    @asynccontextmanager
    async def at(self, offset: str) -> AsyncIterator[Office]:
        """The application so much later."""
        async with (
            serving(self.later(offset)) as http,
            await AsyncConnection.connect(self.later(offset), autocommit=True) as conn,
        ):
            yield replace(self, http=http, conn=conn)


@asynccontextmanager
async def serving(dsn: str) -> AsyncIterator[httpx.AsyncClient]:
    """The API without a socket."""
    app = create_app(Settings(database_url=SecretStr(dsn)))
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://office") as http,
    ):
        yield http
