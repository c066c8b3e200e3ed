"""What goes wrong with a question to the model."""

from __future__ import annotations


class BadAnswer(Exception):
    """An answer without tags; the item is skipped. `excerpt`: how it begins."""

    def __init__(self, why: str, text: str) -> None:
        super().__init__(f"Failed to parse Claude response: {why}")
        self.excerpt = text[:500]


class ItemFailed(Exception):
    """One question got no answer that can be read; the item is skipped. `billed`: it may have cost something all the same."""

    def __init__(self, why: str, *, billed: bool) -> None:
        super().__init__(why)
        self.billed = billed


class TooBusy(Exception):
    """The service asks for time: the job is tried again, at the earliest when the service has said.

    Attributes:
        retry_after: the headers of this name, as they came.
    """

    retryable = True

    def __init__(self, status: int, retry_after: list[str]) -> None:
        super().__init__(f"http_{status}: the service asks for time")
        self.status = status
        self.retry_after = retry_after or None


class Refused(Exception):
    """The service takes no question at all: a key that is none, a bill that is not paid, a model that is gone."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(f"http_{status}: {why}")
        self.status = status
