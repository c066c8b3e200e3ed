"""One look at a page, or one act on it: who, in which scope, and the database as it may be seen from there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from time import monotonic, perf_counter
from typing import Any, TypeVar
from urllib.parse import quote, unquote, urlencode

import psycopg
from fastapi import Request
from psycopg import AsyncConnection
from starlette.responses import RedirectResponse, Response

from postmill.api.asked import Asked
from postmill.api.cookies import COOKIE, csrf_token
from postmill.api.scope import looking
from postmill.bind import arun, astep
from postmill.console.frame import flash, rendering
from postmill.console.frame.arguments import Arguments
from postmill.console.frame.banner import Notice
from postmill.console.frame.cells import Choice, own
from postmill.console.frame.parts import ASKS, asked_with
from postmill.console.frame.preferences import Preferences
from postmill.console.frame.readings import Readings
from postmill.console.frame.scope import Scope
from postmill.console.frame.timings import Timings
from postmill.domain.access import Action
from postmill.store.console import begin_reading
from postmill.store.flow import Flow
from postmill.store.statement import Statement

T = TypeVar("T")


@lru_cache(maxsize=4000)
def _quoted(path: str) -> str:
    """A path of a link; a page has hundreds, and every page most of them again."""
    return quote(path, safe="/%:@!$&()*+,;=~")


READING_SECONDS = 2.0
"""What one query of a page may take; then the page says what was left out."""

OWN = frozenset({"read_saved_views"})
"""Statements whose answer depends on who asks, beyond his scope and his permissions."""


@dataclass(slots=True)
class Visit:
    """One request for a page.

    Reads are one read-only transaction, opened by the first of them and closed before the answer is sent; each query
    has two seconds. What somebody else with the same scope and permissions reads at the same time is not read twice (see
    `Readings`); who acts reads everything himself. Acts have transactions of their own.

    Attributes:
        request: as it came.
        asked: the request within the scope: principal, request id, database.
        scope: of its path.
        args: the query's parameters.
        form: the fields of a form that was sent; none of a GET.
        prefers: theme, clock, and whether single keys do something.
        now: the database's time at the first read, or at that of who read it for all; None before.
        cut: names of what took too long and is not on the page.
        began: when it came, on the monotonic clock.
        parts: the live parts that are to be read and told; none: it is the whole page.
        notices: what is said above the page.
        cells: those that somebody can go to; none where there is one, or none at all.
    """

    request: Request
    asked: Asked
    scope: Scope
    args: Arguments
    form: Arguments
    prefers: Preferences
    now: datetime | None = None
    cut: list[str] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    cells: list[Choice] = field(default_factory=list)
    began: float = field(default_factory=monotonic)
    parts: tuple[str, ...] = ()
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    _reading: tuple[AsyncConnection[Any], datetime] | None = None

    @property
    def schema(self) -> str:
        """The PostgreSQL schema."""
        return self.asked.schema

    @property
    def cell(self) -> str | None:
        """The cell whose pages these are; None: there are no cells."""
        return own(self.asked.backend.settings)

    @property
    def csrf(self) -> str:
        """What our forms carry; empty where a bearer token was sent, which no browser does by itself."""
        cookie = self.request.cookies.get(COOKIE)
        return "" if cookie is None else csrf_token(cookie)

    def wants(self, *parts: str) -> bool:
        """Whether what is of these parts is to be read: for the page, or for one of them that is asked for."""
        return not self.parts or not set(parts).isdisjoint(self.parts)

    @property
    def sharing(self) -> Hashable:
        """What two requests must have alike for their parts to be the same text."""
        return (
            self.asked.principal,
            self.prefers,
            self.csrf,
            self.request.scope["path"],
            asked_with(self.request),
        )

    def may(self, action: Action) -> bool:
        """Whether the role is allowed it."""
        return self.asked.principal.may(action)

    async def moment(self) -> datetime:
        """The database's time, which all of a page is of."""
        if self.now is None:
            self.now = await self._shared((), self._moment)
        return self.now

    async def read(self, statement: Statement[T]) -> T:
        """One statement of the page's reading."""
        await self.moment()
        key = statement.sql, tuple(tuple(one) if isinstance(one, list) else one for one in statement.args)
        if statement.name in OWN:
            return await self._read(statement)
        return await self._shared(key, lambda: self._read(statement), statement.name)

    async def see(self, flow: Flow[T]) -> T:
        """One operation that only reads, of the page's reading."""
        answer: Any = None
        while True:
            try:
                step = flow.send(answer)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            if isinstance(step, Statement):
                answer = await self.read(step)
            else:
                answer = await astep((await self._opened())[0], step)

    async def attempt(self, name: str, what: Statement[T] | Flow[T]) -> T | None:
        """As `read` or `see`, for what a page can be without: after two seconds None, and `name` is in `cut`.

        Args:
            name: what it is, in the words of the page.
        """
        try:
            return await (self.read(what) if isinstance(what, Statement) else self.see(what))
        except psycopg.errors.QueryCanceled:
            self.cut.append(name)
            await self.close()  # its transaction has failed: what is read after it begins another one
            return None

    async def run(self, statement: Statement[T]) -> T:
        """One statement that acts, in a transaction of its own."""
        return await self.asked.run(statement)

    async def drive(self, flow: Flow[T]) -> T:
        """One operation that acts, in a transaction of its own."""
        return await self.asked.drive(flow)

    def url(self, path: str = "", /, **query: object) -> str:
        """A link to a page of this scope: `url('/jobs', q='state:failed')`. What is None is left out; lists are repeated."""
        return self.root(self.scope.prefix + path, **query)

    def root(self, path: str, /, **query: object) -> str:
        """A link to a path below our root."""
        pairs = query and [
            (key, str(value))
            for key, values in query.items()
            for value in (values if isinstance(values, list | tuple) else [values])
            if value is not None
        ]
        base = f"{self.request.scope.get('root_path', '')}{_quoted(path)}"
        return f"{base}?{urlencode(pairs)}" if pairs else base

    def page(self, template: str, /, status: int = 200, **context: Any) -> Response:
        """The page, or the part of it that is asked for."""
        return rendering.page(self, template, status, context)

    def done(self, message: str, to: str, *, kind: str = "done") -> Response:
        """After an act: back to a page (a link as `url` makes it), which shows the message once."""
        answer = RedirectResponse(to, 303)
        flash.put(answer, self.request, message, kind)
        return answer

    def same(self, **changed: object) -> str:
        """A link to this very page with some parameters changed; None leaves one out. Paging starts anew."""
        path, _mark, text = self.here.partition("?")
        kept: dict[str, object] = {
            key: values
            for key, values in Arguments.parsed(text).everything().items()
            if key not in ("after", "before", "deep") and not key.startswith(ASKS)
        }
        query: Mapping[str, object] = {**kept, **changed}
        return self.root(unquote(path), **query)

    def back(self) -> str:
        """A link to the page of this scope that a form's field `back` names; to its first page where it names none.

        Never one to another site: who made the form is not asked.
        """
        return f"{self.request.scope.get('root_path', '')}{self._came_from or self.scope.prefix}"

    @property
    def _came_from(self) -> str | None:
        """Path and query, below our root, of the page of this scope that the form stood in, as it says; None: it does not."""
        path, prefix = self.form.text("back"), self.scope.prefix
        inside = path == prefix or path.startswith((f"{prefix}/", f"{prefix}?"))
        fine = inside and path.isascii() and path.isprintable() and "\\" not in path
        return path if fine else None

    @property
    def here(self) -> str:
        """This page as the field `back` of its forms names it: path and query below our root.

        After an act that was refused it is the page on which its form stood: the act's own path is no page.
        """
        if self._came_from is not None:
            return self._came_from
        scope = self.request.scope
        path = _quoted(str(scope["path"]).removeprefix(str(scope.get("root_path", ""))))
        pairs = [
            (key, one)
            for key, values in self.args.everything().items()
            for one in values
            if not key.startswith(ASKS)
        ]
        return f"{path}?{urlencode(pairs)}" if pairs else path

    async def close(self) -> None:
        """Ends the reading."""
        self._reading = None
        await self._stack.aclose()

    async def _shared(self, key: Hashable, read: Callable[[], Awaitable[T]], name: str = "") -> T:
        """What somebody in this scope with these permissions reads; who acts for himself."""
        if self.request.method not in ("GET", "HEAD"):
            return await read()
        readings: Readings = self.request.app.state.readings
        who = self.asked.principal
        seen_by = who.tenant_id, who.platform, who.role
        return await readings.read((*seen_by, key), read, name, self.scope.topic)

    async def _read(self, statement: Statement[T]) -> T:
        conn, _ = await self._opened()
        timings: Timings = self.request.app.state.timings
        began = perf_counter()
        answer = await arun(conn, statement)
        timings.note(statement.name, perf_counter() - began)
        return answer

    async def _moment(self) -> datetime:
        return (await self._opened())[1]

    async def _opened(self) -> tuple[AsyncConnection[Any], datetime]:
        """The connection, in a transaction that began at this time of the database."""
        if self._reading is None:
            asked = self.asked
            begin = begin_reading(READING_SECONDS, schema=asked.schema)
            opened = looking(asked.backend, asked.principal, asked.request_id, begin)
            self._reading = await self._stack.enter_async_context(opened)
        return self._reading
