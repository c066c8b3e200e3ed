"""What bodies and answers are made of."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """A body or an answer; unknown fields of a body are refused."""

    model_config = ConfigDict(extra="forbid", from_attributes=True)
