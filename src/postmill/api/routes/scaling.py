"""How many workers queues need, for who sees the platform: autoscalers ask with a key of a platform viewer."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path, Query

from postmill.api.asked import Asked, may
from postmill.api.problems import not_found
from postmill.api.routing import new_router
from postmill.domain.access import Action
from postmill.domain.scaling import Aim
from postmill.operate.scaling import decided
from postmill.shapes.paging import Page
from postmill.shapes.scaling import Scaling
from postmill.store.scaling import Loads, read_scaling

router = new_router("queues")

Read = Annotated[Asked, Depends(may(Action.METRICS_READ))]
Name = Annotated[
    str, Path(min_length=1, max_length=200, description="The queue's name.", examples=["q:mail"])
]
Drain = Annotated[
    float | None,
    Query(
        gt=0,
        le=86400,
        description="What waits shall have started within so many seconds. Default: the queue's target of the wait, half of"
        " its SLA, or 120.",
    ),
]
SlotsEach = Annotated[
    int | None,
    Query(
        ge=1,
        le=10000,
        description="Slots of one worker (of a replica: all of its processes). Default: as those that work have, or 10.",
    ),
]
Least = Annotated[int, Query(ge=0, le=100000, description="No fewer workers.")]
Most = Annotated[int | None, Query(ge=0, le=100000, description="No more workers.")]


def aimed(
    drain_seconds: Drain = None, slots_each: SlotsEach = None, least: Least = 0, most: Most = None
) -> Aim:
    """What shall be reached."""
    return Aim(drain_seconds=drain_seconds, slots_each=slots_each, least=least, most=most)


Wish = Annotated[Aim, Depends(aimed)]


@router.get("/scaling")
async def list_scaling(asked: Read, aim: Wish) -> Page[Scaling]:
    """Tell of every queue how many workers it needs, the most urgent first."""
    loads = await _loads(asked, None)
    return Page(
        items=[Scaling.model_validate(decided(name, *found, aim)) for name, found in loads.items()], next=None
    )


@router.get("/scaling/{queue:path}")
async def get_scaling(queue: Name, asked: Read, aim: Wish) -> Scaling:
    """Tell how many workers a queue needs, and why. Measured at most once a second, however many ask."""
    loads = await _loads(asked, queue)
    if queue not in loads:
        raise not_found("queue")
    return Scaling.model_validate(decided(queue, *loads[queue], aim))


async def _loads(asked: Asked, queue: str | None) -> Loads:
    key = (queue, asked.principal.tenant_id)
    known = asked.backend.loads.get(key)
    if known is not None:
        return known
    return asked.backend.loads.put(key, await asked.run(read_scaling(queue, schema=asked.schema)))
