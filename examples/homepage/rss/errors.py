"""What goes wrong with a feed. None of it is a fault of the worker."""

from __future__ import annotations


class FeedError(Exception):
    """A feed could not be fetched or read. It is tried again: feeds recover.

    Attributes:
        error_type: `http_404`, `HttpTimeoutException`, `parse_error` …: the label of the metric.
        status: of the server's answer, if there was one.
        retry_after: the server's headers of this name, as they came; the next attempt waits for as long as they say.
    """

    retryable = True

    def __init__(
        self, error_type: str, why: str, *, status: int | None = None, retry_after: list[str] | None = None
    ) -> None:
        super().__init__(f"{error_type}: {why}")
        self.error_type = error_type
        self.status = status
        self.retry_after = retry_after or None
