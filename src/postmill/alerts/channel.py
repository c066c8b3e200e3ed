"""What every channel is: a place where people are told something, that may refuse, ask to wait, or not answer at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol

from postmill.domain.errors import PostmillError
from postmill.store.notifications import Notice


class Undelivered(PostmillError):
    """A channel did not take a message.

    Attributes:
        again: whether another try may help; if not, the channel's address or credentials are at fault.
        of_message: this message is refused for good; others may be taken.
        wait: seconds that the service asked to wait; None: it did not.
    """

    def __init__(
        self, why: str, *, again: bool = True, of_message: bool = False, wait: float | None = None
    ) -> None:
        super().__init__(why)
        self.again = again
        self.of_message = of_message
        self.wait = wait


class Channel(Protocol):
    """One channel. `sums_up`: several notices may go in one message."""

    sums_up: ClassVar[bool]

    async def send(self, notices: Sequence[Notice]) -> None:
        """Tells them, in one message: one notice, or several where the channel sums up.

        Raises:
            Undelivered: the service did not confirm it. It may have been delivered nevertheless.
        """

    async def close(self) -> None:
        """Lets go of connections."""
