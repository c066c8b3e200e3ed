"""What a handler is told of the workflow that its job belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Parent:
    """A step that this one waited for.

    Attributes:
        status: `succeeded`, `failed` or `canceled`; only `succeeded` has a result.
        result: what its handler returned, as decoded JSON; None also where its history is pruned already.
        fanned_from: the step whose handler made it.
    """

    name: str
    job_id: UUID | None
    status: str
    result: Any = None
    fanned_from: str | None = None

    @property
    def succeeded(self) -> bool:
        return self.status == "succeeded"


class Parents(dict[str, Parent]):
    """The parents by their names, in the order of their steps."""

    def fanned_from(self, step: str) -> list[Parent]:
        """Those that the handler of this step has made."""
        return [parent for parent in self.values() if parent.fanned_from == step]

    def results(self) -> dict[str, Any]:
        """The results of those that succeeded."""
        return {name: parent.result for name, parent in self.items() if parent.succeeded}


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The workflow or batch of a job, as it was when the job started.

    Attributes:
        kind: `workflow` or `batch`.
        step: the name of the job's step; None in a batch, of a compensation and of a callback.
        role: `step`, `compensation`, `on_success` or `on_finish`.
        total, succeeded, failed, canceled: counts of its steps.
        verdict: how its steps came out, once they are over: `succeeded`, `failed` or `canceled`.
        parents: a compensation has the step that it takes back.
    """

    id: UUID
    name: str
    kind: str
    role: str
    step: str | None = None
    total: int = 0
    succeeded: int = 0
    failed: int = 0
    canceled: int = 0
    verdict: str | None = None
    parents: Parents = field(default_factory=Parents)

    def plain(self) -> dict[str, Any]:
        """The same as JSON can carry it: what `told` takes."""
        facts = {name: getattr(self, name) for name in self.__slots__ if name not in ("id", "parents")}
        parents = [
            {
                "name": one.name,
                "job_id": None if one.job_id is None else str(one.job_id),
                "status": one.status,
                "result": one.result,
                "fanned_from": one.fanned_from,
            }
            for one in self.parents.values()
        ]
        return {"id": str(self.id), **facts, "parents": parents}


def told(facts: Mapping[str, Any]) -> Told:
    """From the facts as the database has them."""
    rest = {name: value for name, value in facts.items() if name not in ("id", "parents")}
    parents = Parents()
    for one in facts["parents"]:
        job_id = None if one["job_id"] is None else UUID(one["job_id"])
        name = one["name"] or str(job_id)
        parents[name] = Parent(name, job_id, one["status"], one["result"], one["fanned_from"])
    return Told(id=UUID(facts["id"]), parents=parents, **rest)
