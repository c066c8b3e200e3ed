"""What the directory's API takes and answers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, HttpUrl

from examples.homepage.admin.shapes import Name, ShortUrl


def _public(url: HttpUrl) -> HttpUrl:
    """As it is listed: no name and password, which would be published, and no fragment, which no server sees."""
    if url.username or url.password:
        raise ValueError("it has a user name or a password in it")
    return HttpUrl(str(url).partition("#")[0])


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid")


class NewSite(_Shape):
    """A submission."""

    url: Annotated[ShortUrl, AfterValidator(_public)]
    title: Name


class Submitted(_Shape):
    """The site, and the job that takes a picture of it, or with a CDN the workflow whose first step does; neither where the
    site was there, or nothing takes pictures."""

    id: UUID
    job_id: UUID | None = None
    workflow_id: UUID | None = None


class Vote(_Shape):
    """Who votes: an id that the visitor's browser made, and keeps."""

    visitor: UUID


class Voted(_Shape):
    """Whether this was the visitor's first vote for the site; others change nothing."""

    counted: bool


class Site(_Shape):
    """A site as it is listed. `score` is what its rank is worth now; `preview` is where its picture is at the CDN."""

    id: UUID
    url: str
    title: str
    submitted_at: datetime
    status: str
    moved_to: str | None
    preview: str | None
    score: float
