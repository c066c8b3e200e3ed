"""What the API takes and answers."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field

from examples.planner.contract import Envelope

_ONE_LINE = r"^[^\p{Cc}\p{Zl}\p{Zp}]*$"
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=_ONE_LINE)]
"""One line: it goes into subjects of mails, and into cells of files."""


def _of_our_time(moment: datetime) -> datetime:
    if not 1970 <= moment.year < 2200:
        raise ValueError("between 1970 and 2200")
    return moment.astimezone(UTC)


Moment = Annotated[AwareDatetime, AfterValidator(_of_our_time)]
"""The edges of the calendar are in no zone but one's own, and there is nothing to be planned there."""


class Asked(BaseModel):
    """What a client sends; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class NewProject(Asked):
    name: Name


class NewMission(Asked):
    title: Name
    skill: Name
    starts_at: Moment
    ends_at: Moment


class NewAssignment(Asked):
    collaborator_id: UUID


class Item(Asked):
    id: Name
    at: Annotated[str, Field(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")]
    what: Name
    who: Annotated[str, Field(max_length=200, pattern=_ONE_LINE)] = ""


class NewRunSheet(Asked):
    title: Name
    items: Annotated[list[Item], Field(max_length=500)]


class NewExport(Asked):
    format: Literal["pdf", "csv"]


class NewReminder(Asked):
    mission_id: UUID
    scheduled_for: Moment


class NewMaintenance(Asked):
    what: Literal["expired-keys", "rebuild-search"]
    scheduled_for: Moment


class Edited(Asked):
    """Another payload for a dead letter: fix-forward. None: the same again."""

    payload: dict[str, Any] | None = None


class JobAnswer(BaseModel):
    job_id: UUID


class Written(BaseModel):
    """A write that was committed; `jobs` follow it, and it does not wait for them."""

    id: UUID
    jobs: list[UUID]


class JobShown(BaseModel):
    contract: Envelope
    status: str
    queue: str
    attempt: int
    result: Any = None
    reason: str | None = None


class DeadLetter(BaseModel):
    """`queue` is the planner's name for all of them; `plan` is what an operator can do."""

    queue: Literal["q:deadletter"]
    from_queue: str
    job_id: UUID
    job_type: str
    project_id: UUID | None
    actor_id: str | None
    request_id: str | None
    attempts: int
    reason: str
    error_class: str | None
    error_message: str | None
    failed_at: AwareDatetime
    plan: list[str]
