"""Tags of jobs."""

from __future__ import annotations

from uuid import UUID

from pydantic import Field

from postmill.shapes.base import Answer, Model
from postmill.shapes.jobs import ID, Reason, Tags


class SetTags(Model):
    """Tags to be given and to be taken away; at least one of either."""

    add: Tags = Field(default_factory=list)
    remove: Tags = Field(default_factory=list, examples=[["old"]])
    reason: Reason = None


class TaggedJob(Answer):
    """A job whose tags were asked to change."""

    id: UUID = Field(examples=[ID])
    changed: bool = Field(description="False: they were so already.", examples=[True])
