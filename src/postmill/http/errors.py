"""What goes wrong with a request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from postmill.domain.errors import PostmillError


@dataclass(frozen=True, slots=True)
class FieldError:
    """A parameter or field that is not what it should be: where, and why."""

    at: str
    message: str


class ApiError(PostmillError):
    """The server answered with an error (RFC 9457).

    Attributes:
        status: the HTTP status.
        type: stable name of the kind of problem, e.g. `urn:postmill:problem:not-found`; `about:blank` where something
            before the server answered.
        title: the kind in words.
        detail: what was expected, what came, what to do.
        request_id: for the server's logs; None where something before the server answered.
        errors: of a request whose parameters or fields are wrong, each of them.
        more: further members of the document, e.g. `job_id` of a job that stands in the way.
    """

    def __init__(
        self,
        status: int,
        type: str,
        title: str,
        detail: str,
        request_id: str | None = None,
        errors: tuple[FieldError, ...] = (),
        more: Mapping[str, object] | None = None,
    ) -> None:
        self.status, self.type, self.title, self.detail = status, type, title, detail
        self.request_id, self.errors, self.more = request_id, errors, dict(more or {})
        super().__init__(status, type, title, detail, request_id, errors, self.more)

    @property
    def kind(self) -> str:
        """The last part of `type`, e.g. `not-found`."""
        return self.type.rpartition(":")[2]

    def __str__(self) -> str:
        asked = f" (request {self.request_id})" if self.request_id else ""
        return f"{self.status} {self.title}: {self.detail}{asked}"


class Unauthorized(ApiError):
    """401: there is no key, or it does not hold (any more)."""


class Forbidden(ApiError):
    """403: the key's role may not do this."""


class NotFound(ApiError):
    """404: it does not exist, or is not within the key's scope."""


class Conflict(ApiError):
    """409: it cannot be done in the state that it is in; of a worker: the fence holds no more, drop the work."""


class Refused(ApiError):
    """422: a parameter, a field or the payload is not what it should be."""


class TooManyRequests(ApiError):
    """429: beyond the rate of this key, and waiting took too long."""


class Unavailable(ApiError):
    """502, 503 or 504: the server cannot work now, and waiting took too long."""


class Unreachable(PostmillError):
    """No answer came.

    Attributes:
        sent: whether the request may have reached the server, and been done.
    """

    def __init__(self, request: str, reason: str, sent: bool) -> None:
        self.request, self.reason, self.sent = request, reason, sent
        super().__init__(request, reason, sent)

    def __str__(self) -> str:
        return f"{self.request}: {self.reason}; it was {'perhaps' if self.sent else 'not'} done"


class UnexpectedAnswer(PostmillError):
    """The server answered well, but nothing that this version understands: another service may be at this address."""


BY_STATUS: Mapping[int, type[ApiError]] = {
    401: Unauthorized, 403: Forbidden, 404: NotFound, 409: Conflict, 422: Refused, 429: TooManyRequests,
    502: Unavailable, 503: Unavailable, 504: Unavailable,
}  # fmt: skip
"""The class of an error; others are plain ApiErrors."""
