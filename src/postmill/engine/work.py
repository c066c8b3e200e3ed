"""A claimed ticket on its way through this process, and what the process knows of a job type and of a queue."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from postmill.domain.job_type import JobType
from postmill.domain.slot_range import Slots, least_of, most_of
from postmill.domain.workflow_told import Told
from postmill.engine.context import Context
from postmill.engine.session import Session
from postmill.engine.stored_type import StoredType
from postmill.telemetry.type_counters import TypeCounters

if TYPE_CHECKING:
    from postmill.engine.command_type import CommandType
    from postmill.engine.guarded import Guard

# Columns of the answer of claim().
ID, SLOT, READY_AT, ATTEMPT, RUN, LOST, JOB_TYPE, PAYLOAD, TENANT, MAX_ATTEMPTS, TIMEOUT, EXPIRED = range(12)
CREATED_AT, PROJECT, ACTOR_TYPE, ACTOR_ID, REQUEST_ID, CORRELATION_ID, TRACEPARENT, KEY, SCHEDULED_FOR = (
    range(12, 21)
)
CLAIMED_AT, WORKFLOW = 21, 22

# Columns that the answer of claim_limited() has besides.
SEATS, KEY_BOUND, LIMIT_ID, WAIT, CONTENDED, LOW = range(23, 29)

SUSPECT = 2
"""So many losses make a job a suspect, which runs in a child process of its own."""

Row = tuple[Any, ...]


class Handler:
    """A job type as this process runs it.

    `fn`, `plain` and `ctx_param` are there for functions only. What has none is run by others, as a child.
    """

    fn: Callable[..., Any]
    bind: Callable[[bytes], dict[str, Any]]
    ctx_param: str | None
    plain: bool

    __slots__ = (
        "bind",
        "budget",
        "child",
        "command",
        "counters",
        "ctx_param",
        "fn",
        "forget",
        "function",
        "guard",
        "is_async",
        "limit",
        "plain",
        "type",
    )

    def __init__(
        self, job_type: JobType[..., ..., Any] | StoredType, counters: TypeCounters, limit: int | None
    ) -> None:
        self.type = job_type
        self.function: str | None = None
        self.ctx_param = None
        self.is_async = False
        self.child = True
        self.bind = job_type.bind
        self.budget: str | None = job_type.budget
        if isinstance(job_type, JobType):
            self.fn = job_type.fn
            self.function = f"{job_type.fn.__module__}.{job_type.fn.__qualname__}"
            self.ctx_param = job_type.ctx_param
            self.is_async = job_type.is_async
            self.child = job_type.isolation == "process"
            self.plain = not job_type.takes_arguments and job_type.ctx_param is None
        self.forget = job_type.keep == "failures"
        self.counters = counters
        self.limit = TypeLimit(limit) if limit is not None else None
        self.guard: Guard | None = None  # of types that are strict or encrypted
        self.command: CommandType | None = None


class TypeLimit:
    """This process's share of a limit per `postmill worker` command."""

    __slots__ = ("active", "held", "parked", "share")

    def __init__(self, share: int) -> None:
        self.share = share
        self.active = 0
        self.held = 0  # claimed and not ended, whether it runs or waits for a slot
        self.parked: deque[Work] = deque()

    @property
    def free(self) -> int:
        return max(0, self.share - self.held)


class QueueSlots:
    """One queue's slots in this process, and its tickets that wait in memory for one.

    `slots`: a number, or a range that they follow the work in; `because`: of what they changed last; `held`: what
    keeps them from more (`because`, `now`).
    """

    __slots__ = (
        "active",
        "because",
        "ceiling",
        "done",
        "filling",
        "floor",
        "held",
        "low",
        "name",
        "poll_interval",
        "prefetch",
        "priority",
        "slots",
        "waiting",
    )

    def __init__(self, name: str, slots: Slots, *, priority: int = 100, poll_interval: float = 10.0) -> None:
        self.name = name
        self.floor = least_of(slots)
        self.ceiling = most_of(slots)
        self.slots = self.floor
        self.because: str | None = None
        self.held: dict[str, Any] | None = None
        self.priority = priority
        self.poll_interval = poll_interval
        self.active = 0
        self.done = 0  # since the last claim: what prefetch follows
        self.prefetch = 0
        self.low = 0  # so many wait at most when more are claimed
        self.filling = False
        self.waiting: deque[Work] = deque()

    @property
    def ranged(self) -> bool:
        """Whether the slots follow the work."""
        return self.floor < self.ceiling

    @property
    def wanted(self) -> int:
        return self.slots + self.prefetch - self.active - len(self.waiting)


Why = Literal["timeout", "cancel", "drain"]
"""What a running handler was asked to stop for."""


class Work:
    """One claimed ticket. Everything that is not needed for each job stays in the row until asked for."""

    __slots__ = (
        "cancel_reason", "claim_no", "claimed", "completes", "ctx", "ended", "fanned", "handler", "lane", "newcomer", "queue",
        "ready", "row", "session", "settled", "started", "stop", "task", "told", "why",
    )  # fmt: skip

    def __init__(
        self,
        row: Row,
        claim_no: int,
        lane: bytes,
        session: Session,
        handler: Handler | None,
        queue: QueueSlots,
        claimed: float,
        ready: float,
    ) -> None:
        self.row = row
        self.claim_no = claim_no
        self.lane = lane
        self.session = session
        self.handler = handler
        self.queue = queue
        self.claimed = claimed  # by time.perf_counter, as started and ready are
        self.ready = ready
        self.newcomer = (
            False  # of a lane that had its turn after a while: it goes before others that wait here
        )
        self.started = 0.0
        self.task: asyncio.Task[None] | None = None
        self.ctx: Context | None = None
        self.stop: asyncio.Event | None = None  # set to stop a child process
        self.ended = False
        self.settled = False  # completed inside the handler's own transaction
        self.completes = False  # or in one that it opened, commits and closes by itself, who knows when
        self.fanned: str | None = None  # steps that its success brings, as JSON
        self.told: Told | None = None  # of its workflow, where it has one and the handler can ask
        self.why: Why | None = None
        self.cancel_reason = ""

    @property
    def id(self) -> bytes:
        value: bytes = self.row[ID]
        return value

    @property
    def seats(self) -> bytes | None:
        """The keys of limits that it holds seats of, 16 bytes each."""
        seats: bytes | None = self.row[SEATS] if len(self.row) > SEATS else None
        return seats

    @property
    def lost(self) -> bool:
        """Its lease is over: whatever it reports is void."""
        return self.session.lost

    @property
    def stopping(self) -> bool:
        return self.why is not None or self.session.lost
