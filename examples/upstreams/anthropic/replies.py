"""What the stand-in says: good answers, and all that a service says on its bad days."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Body = Literal["good", "garbage", "cut", "none", "slow", "huge", "deep"]
"""`garbage` is a page of a proxy's, `cut` ends in the middle, `none` closes without an answer, `slow` never ends, `huge` is of
ten million bytes, `deep` nests without end."""

_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. `text` None: tags of the article; `usage`: tokens in and out, None: as counted here."""

    text: str | None = None
    status: int = 200
    stop_reason: str = "end_turn"
    usage: tuple[Any, Any] | None = None
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    body: Body = "good"


def limited(retry_after: str | None = None) -> Reply:
    """429, with the header where one is given."""
    return Reply(status=429, headers={} if retry_after is None else {"Retry-After": retry_after})


def error(status: int) -> dict[str, Any]:
    """The body of an error, as the real service writes it."""
    kind = _TYPES.get(status, "api_error")
    return {
        "type": "error",
        "error": {"type": kind, "message": kind.replace("_", " ").capitalize()},
        "request_id": "req_011CStandIn",
    }


def message(number: int, model: str, text: str, stop_reason: str, usage: tuple[Any, Any]) -> dict[str, Any]:
    """The body of an answer."""
    return {
        "id": f"msg_{number:024}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [{"type": "text", "text": text}],
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": usage[0], "output_tokens": usage[1], "service_tier": "standard"},
    }
