"""What the probes answer."""

from __future__ import annotations

from pydantic import Field

from postmill.shapes.base import Answer


class Alive(Answer):
    """The process answers."""

    alive: bool = Field(examples=[True])


class Readiness(Answer):
    """Whether the server, and the worker beside it if there is one, can work now."""

    ready: bool = Field(examples=[False])
    reason: str | None = Field(
        default=None, description="Why not.", examples=["the database does not answer"]
    )
