"""A claim that waits: looks, lies down, is rung or looks again by itself, until there is work or the time is over."""

from __future__ import annotations

import asyncio
from functools import partial
from time import monotonic
from typing import Any, NoReturn
from uuid import UUID

from psycopg import AsyncConnection

from postmill.api.asked import Asked
from postmill.api.problems import Problem
from postmill.api.undelivered import Client
from postmill.bind import arun
from postmill.domain.suggest import did_you_mean
from postmill.engine.http_work.board import Board, Waiter
from postmill.engine.http_work.claiming import Given, given_out
from postmill.engine.http_work.outcomes import Outcomes
from postmill.shapes.work import ClaimJobs
from postmill.store.work import OpenWork, check_org, doze_work, open_work, release_work

POLL_EVERY = 5.0
"""Seconds between two looks of a request that nobody rings."""

DEAF_EVERY = 1.0
"""The same where nobody listens."""

FIRST_POLLS = (0.1, 0.5)
"""Seconds until the first looks: for a transaction that enqueued before the request lay down and commits after."""

AWAKE_FOR = 15.0
"""Seconds that a session outlives its last claim, at least."""


def outcomes_of(asked: Asked, conn: AsyncConnection[Any]) -> Outcomes:
    """The flows of this request; definitions that ask for it check the organization in its transaction."""

    async def check(tenant: UUID, project: UUID | None) -> tuple[bool, bool]:
        return await arun(conn, check_org(tenant, project, schema=asked.schema))

    desk = asked.backend.desk
    return Outcomes(desk.handlers(check), desk.verdicts, desk.bus, asked.schema)


class LongPoll:
    """One claim of one worker."""

    def __init__(self, asked: Asked, body: ClaimJobs, client: Client) -> None:
        self._asked = asked
        self._body = body
        self._client = client
        self._desk = asked.backend.desk
        self._board: Board = self._desk.board(asked.principal.tenant_id, body.queues, body.job_types)
        self._waiter = Waiter()
        self._session: OpenWork | None = None
        self._lies = False

    async def jobs(self) -> list[Given]:
        """Jobs, or none. Those of a client that has gone meanwhile are given back.

        Raises:
            Problem: 422 where the worker names what it cannot serve.
        """
        since = monotonic()
        until = since + self._body.wait_seconds
        polls = list(FIRST_POLLS)
        self._board.add(self._waiter)
        try:
            while True:
                given = await self._look(since)
                left = until - monotonic()
                if self._client.gone.is_set():
                    await self.give_back(given)
                    return []
                if given or left <= 0 or self._desk.closing:
                    return given
                if not self._lies:
                    # Who enqueues from here on rings; what came before is seen by the next look.
                    await self._lie_down(left)
                    since = monotonic()
                    continue
                pause = polls.pop(0) if polls else POLL_EVERY if self._desk.bell.listening else DEAF_EVERY
                rung = await self._wait(min(left, pause, self._board.next_open()))
                since = (
                    0.0 if rung else monotonic() - pause / 2
                )  # somebody else's look within that time will do
        finally:
            self._board.remove(self._waiter)

    async def give_back(self, given: list[Given]) -> None:
        """Nobody took them."""
        for holder, claim_no in {(one.held.holder, one.held.claim_no) for one in given}:
            await self._asked.run(release_work(holder, claim_no, schema=self._asked.schema))

    async def _look(self, since: float) -> list[Given]:
        asked, body, board = self._asked, self._body, self._board
        async with board.lock:
            # A ring that comes during the look is answered by the next.
            self._waiter.tried = board.rings
            self._waiter.call.clear()
            try:
                async with asked.transaction() as conn:
                    run = partial(arun, conn)
                    given: list[Given] = []
                    before, session = self._session, await self._open(conn)
                    self._session = session
                    self._lies = self._lies and before is not None and before.holder == session.holder
                    assert session.holder is not None
                    assert session.types is not None
                    board.serve(session.queues or [])
                    while not given:
                        taken = await board.claim(
                            run, session.holder, body.max_jobs, body.lease_seconds, session.types, since
                        )
                        if not taken:
                            break
                        given = await given_out(
                            conn, run, taken, session.holder, body.worker_id, outcomes_of(asked, conn)
                        )
                    if given and self._lies:
                        await run(doze_work(session.holder, session.queues or [], 0.0, schema=asked.schema))
            except BaseException:
                board.forget()
                raise
        if given:
            board.left_over()
        else:
            board.call_next()
        return given

    async def _open(self, conn: AsyncConnection[Any]) -> OpenWork:
        body = self._body
        seconds = max(body.lease_seconds, body.wait_seconds + AWAKE_FOR)
        found = await arun(
            conn,
            open_work(
                body.worker_id,
                body.queues,
                body.job_types,
                seconds,
                {"key": self._asked.principal.actor_id},
                schema=self._asked.schema,
            ),
        )
        if found.status != "open":
            _refuse(found)
        if found.sealed is not None and self._desk.ring is None:
            raise Problem(
                503,
                "keys-missing",
                f"job type {found.sealed!r} keeps its payloads encrypted, and this server has no keys: set encryption.keys",
            )
        return found

    async def _lie_down(self, seconds: float) -> None:
        session = self._session
        assert session is not None
        assert session.holder is not None
        self._desk.bell.needed()
        await self._asked.run(
            doze_work(session.holder, session.queues or [], seconds, schema=self._asked.schema)
        )
        self._lies = True

    async def _wait(self, seconds: float) -> bool:
        """Until somebody calls this request (True), the client goes, or the time is over."""
        called = asyncio.create_task(self._waiter.call.wait())
        gone = asyncio.create_task(self._client.gone.wait())
        await asyncio.wait({called, gone}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        for task in (called, gone):
            task.cancel()
        await asyncio.gather(called, gone, return_exceptions=True)
        return self._waiter.call.is_set()


def _refuse(found: OpenWork) -> NoReturn:
    name, known = found.detail or "", found.known or []
    match found.status:
        case "unknown_type":
            hint = did_you_mean(name, known, noun="job types of http workers")
            raise Problem(422, "unknown-definition", f"unknown job type {name!r}{hint}")
        case "unknown_queue":
            hint = did_you_mean(name, known, noun="queues of http workers")
            raise Problem(422, "unknown-queue", f"unknown queue {name!r}{hint}")
        case "other_kind":
            detail = f"job type {name!r} is not of kind http: other workers run it"
        case "other_queue":
            detail = f"queue {name!r} serves job types that are not of kind http: other workers run them"
        case _:
            detail = "no job type of kind http belongs to these queues"
    raise Problem(422, "not-for-http-workers", detail)
