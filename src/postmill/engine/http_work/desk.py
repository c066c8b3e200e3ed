"""Where HTTP workers come for work: what one server process keeps for all of them."""

from __future__ import annotations

from collections import OrderedDict
from uuid import UUID

from postmill.domain.encryption import KeyRing
from postmill.engine.guarded import CheckOrg
from postmill.engine.http_work.bell import Bell
from postmill.engine.http_work.board import Board
from postmill.engine.http_work.handlers import Handlers
from postmill.engine.verdict import Verdicts
from postmill.telemetry.bus import Bus
from postmill.telemetry.counters import Counters

_BOARDS = 1000  # kinds of workers that are remembered

Kind = tuple[UUID | None, frozenset[str], frozenset[str]]


class Desk:
    """The boards of all kinds of workers, the bell that calls them, and where their jobs are counted and told.

    Args:
        dsn: where to LISTEN; None: nowhere.
        schema: where Postmill's tables are.
        ring: keys of encrypted payloads.
        bus: where events go.
    """

    def __init__(self, dsn: str | None, schema: str, ring: KeyRing | None, bus: Bus) -> None:
        self.bus = bus
        self.counters = Counters()
        self.ring = ring
        self.closing = False
        self._schema = schema
        self._boards: OrderedDict[Kind, Board] = OrderedDict()
        self.bell = Bell(dsn, schema, self.boards, self.bus, self.counters)

    def board(self, tenant: UUID | None, queues: list[str], types: list[str]) -> Board:
        """The board of workers that ask for these queues and types within this scope."""
        kind = tenant, frozenset(queues), frozenset(types)
        board = self._boards.pop(kind, None) or Board(tenant, self._schema)
        self._boards[kind] = board
        while len(self._boards) > _BOARDS and next(iter(self._boards.values())).idle:
            self._boards.popitem(last=False)
        return board

    def boards(self) -> list[Board]:
        """All of them."""
        return list(self._boards.values())

    def handlers(self, check_org: CheckOrg) -> Handlers:
        """Makes handlers from definitions, for one request."""
        return Handlers(self.counters, self.bus, self.ring, check_org)

    def verdicts(self, worker_id: str) -> Verdicts:
        """Decides on the outcomes of this worker's jobs."""
        return Verdicts(self.bus, worker_id)

    def send_home(self) -> None:
        """This server ends: whoever waits is answered now."""
        self.closing = True
        for board in self.boards():
            board.call_all()

    async def close(self) -> None:
        """The end."""
        self.send_home()
        await self.bell.close()
