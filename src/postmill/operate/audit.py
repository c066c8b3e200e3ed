"""The audit log, as people read and verify it. Flows, to be run as those of `commands` are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from postmill.domain.audit import Anchor, AuditBroken, Link, follow
from postmill.store import audit as store
from postmill.store import seal
from postmill.store.audit import ChainStatus, HistoryPage, Position
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.flow import Flow, Pause

_PAGE = 1000


@dataclass(frozen=True, slots=True)
class ChainCheck:
    """How the chain stands, and whether its last links hold.

    Attributes:
        status: how far it goes.
        checked: links that were followed, the last ones.
        broken: what is wrong with them; None: nothing.
    """

    status: ChainStatus
    checked: int
    broken: str | None


def history(
    after: Position | None = None,
    *,
    until: datetime | None = None,
    most: int = 100,
    kind: str | None = None,
    events: Sequence[str] | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[HistoryPage]:
    """One page of all that happened, the log and the lives of jobs in one stream, in the order of recording.

    A page may be short, or empty with `more`: none takes longer than some 150 ms. Read on from its `next`.

    Args:
        after: where the last page ended; None is the beginning.
        until: a moment that is settled (`settled`); None is what is noted as such.
        kind: `audit` or `job`; None is both.
        events: names of events; None is all.
    """
    if until is None:
        until, _ = yield store.horizon(schema=schema)
    if after is None:
        after = Position((yield store.history_start(schema=schema)))
    page: HistoryPage = yield store.history(
        after, until, most=most, kind=kind, events=None if events is None else list(events), schema=schema
    )
    return page


def settled(*, patience: float = 0.0, schema: str = DEFAULT_SCHEMA) -> Flow[datetime]:
    """Up to which moment no late commit can come any more.

    Args:
        patience: seconds that it may wait until this reaches the moment of the call. It does not while a
            transaction that began earlier goes on writing.
    """
    _, now = yield store.horizon(schema=schema)
    found: datetime = yield store.advance_horizon(schema=schema)
    waited = 0.0
    while found < now and waited < patience:
        yield Pause(0.1)
        waited += 0.1
        found = yield store.advance_horizon(schema=schema)
    return found


def verify(anchors: Sequence[Anchor] = (), *, schema: str = DEFAULT_SCHEMA) -> Flow[Anchor]:
    """Follows the whole chain and looks for rows beside it; answers its end, to be kept elsewhere as an anchor.

    It begins where the last pruning ended. An anchor of before that is not there to be compared any more.

    Raises:
        AuditBroken: names the first link that is wrong, or a row that nobody wrote as one writes the log.
    """
    noted: Anchor | None = yield seal.noted_end(schema=schema)
    start: Anchor = yield seal.start(schema=schema)
    for anchor in anchors:
        if anchor.n == start.n and anchor.hash != start.hash:
            raise AuditBroken(
                f"link {start.n}, up to which the log was pruned, is not what its anchor says", start.n
            )
    end = start
    while links := (yield seal.chain(end.n, _PAGE, schema=schema)):
        rows = yield seal.canonical([id for _, id, _ in links], schema=schema)
        known = [Link(n, str(id), hash, rows.get(id)) for n, id, hash in links]
        end = follow(known, end, [*anchors, *([noted] if noted else [])])
    for anchor in [*anchors, *([noted] if noted else [])]:
        if anchor.n > end.n:
            raise AuditBroken(
                f"the chain ends with link {end.n}, but it had {anchor.n}: its end is gone", end.n + 1
            )
    stranger = yield seal.strangers(schema=schema)
    if stranger is not None:
        raise AuditBroken(
            f"the row {stranger[0]} ({stranger[1]}) is in the log but was never sealed nor waits for it"
        )
    return end


def check_end(most: int = 200, *, schema: str = DEFAULT_SCHEMA) -> Flow[ChainCheck | None]:
    """Follows the last links of the chain, as a request may; `verify` follows all of it. None to who does not see the
    platform.

    Args:
        most: links, 1 to 1,000.
    """
    status: ChainStatus | None = yield store.chain_status(schema=schema)
    if status is None:
        return None
    links = yield store.read_links(max(status.first, status.n - most), most + 1, schema=schema)
    start = Anchor(status.first, status.first_hash)
    if status.n - most > status.first and links:
        start, links = Anchor(links[0][0], links[0][2]), links[1:]
    noted = [] if status.noted_n is None else [Anchor(status.noted_n, bytes.fromhex(status.noted_hash or ""))]
    broken = None
    try:
        end = follow([Link(n, str(id), hash, row) for n, id, hash, row in links], start, noted)
        if links and (end.n, end.hash) != (status.n, status.hash):
            broken = f"the chain ends with link {end.n}, not with {status.n}"
        elif noted and noted[0].n > status.n:
            broken = f"the chain ends with link {status.n}, but it had {noted[0].n}: its end is gone"
    except AuditBroken as fault:
        broken = str(fault)
    return ChainCheck(status, len(links), broken)
