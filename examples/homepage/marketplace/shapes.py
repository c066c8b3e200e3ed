"""What the marketplace's API takes and answers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, ConfigDict, StringConstraints

from examples.homepage.mail.outbox import MOST_TEXT
from examples.homepage.marketplace.inquiries import MOST_SUBJECT


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid")


class NewInquiry(_Shape):
    """What a member asks the seller of a listing."""

    member_id: UUID
    subject: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MOST_SUBJECT)]
    text: Annotated[str, StringConstraints(min_length=1, max_length=MOST_TEXT)]


class Asked(_Shape):
    """The message that will be sent."""

    message_id: UUID


class Uploaded(_Shape):
    """The picture whose sizes will be made."""

    image_id: UUID


class NewTerm(_Shape):
    """Who wants more time for a listing: its seller."""

    member_id: UUID


class Renewed(_Shape):
    """The term that has begun, counted from 1, and its end."""

    term: int
    expires_at: datetime
