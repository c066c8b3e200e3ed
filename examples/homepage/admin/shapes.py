"""What the admin API takes and answers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, HttpUrl, StringConstraints, model_validator

from examples.homepage.queues import HIGHEST, LOWEST
from examples.homepage.rss.identity import DedupBy

_ONE_LINE = r"^[^\p{Cc}]*$"
MOST_URL = 2_000
"""Characters of an address as it is stored, which an index has to hold."""

Name = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200, pattern=_ONE_LINE)
]


def _short(url: HttpUrl) -> HttpUrl:
    """Written out: each letter of another script becomes six or nine characters."""
    if len(str(url)) > MOST_URL:
        raise ValueError(f"an address has at most {MOST_URL} characters, written in ASCII")
    return url


ShortUrl = Annotated[HttpUrl, AfterValidator(_short)]


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid")


class NewJob(_Shape):
    """A job of one of the types of the registry, with its payload."""

    job_type: str
    payload: dict[str, Any] = {}


class Enqueued(_Shape):
    """The job that was made."""

    job_id: UUID
    job_type: str
    queue: str


class NewPriority(_Shape):
    """Another priority of a job that waits, and why; a lower number goes first."""

    priority: int = Field(ge=HIGHEST, le=LOWEST)
    reason: Name | None = None


class Prioritized(_Shape):
    """The job as it is now."""

    job_id: UUID
    priority: int


class SourceChanges(_Shape):
    """What is to change of a source; what is not named stays. `error_count` can only be set back to 0."""

    name: Name = ""
    url: ShortUrl | None = None
    category: str = Field(default="", max_length=80, pattern=_ONE_LINE)
    refresh_interval_minutes: int = Field(default=60, ge=15, le=1440)
    dedup_by: DedupBy = "guid"
    is_active: bool = True
    error_count: int = Field(default=0, ge=0, le=0)

    @model_validator(mode="after")
    def _something(self) -> SourceChanges:
        if not self.model_fields_set:
            raise ValueError(f"nothing is to change; there are: {', '.join(type(self).model_fields)}")
        if "url" in self.model_fields_set and self.url is None:
            raise ValueError("url: a source has one")
        return self


class Source(_Shape):
    """A source, and how it stands."""

    id: UUID
    name: str
    url: str
    category: str
    refresh_interval_minutes: int
    is_active: bool
    error_count: int
    last_error_message: str | None
    last_fetched_at: datetime | None
    retry_not_before: datetime | None
    dedup_by: DedupBy
    updated_at: datetime
