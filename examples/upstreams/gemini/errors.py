"""Errors as the real service writes them: `{"error": {"code", "message", "status", "details"}}`."""

from __future__ import annotations

from typing import Any

_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_MESSAGES = {
    400: "Request contains an invalid argument.",
    401: "Request had invalid authentication credentials.",
    403: "The caller does not have permission.",
    404: "models/none is not found for API version v1beta, or is not supported for embedContent.",
    429: "You exceeded your current quota, please check your plan and billing details.",
    500: "An internal error has occurred. Please retry.",
    503: "The model is overloaded. Please try again later.",
    504: "The deadline expired before the operation could complete.",
}


class Refused(Exception):
    """A request that gets an error for an answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def error(status: int, message: str | None = None, *, retry_after: str | None = None) -> dict[str, Any]:
    """The body of an error. A 429 names the quota, and how long to wait where that is known."""
    details: list[dict[str, Any]] = []
    if status == 429:
        violation = {
            "quotaMetric": "generativelanguage.googleapis.com/embed_content_free_tier_requests",
            "quotaId": "EmbedContentRequestsPerDayPerUserPerProjectPerModel-FreeTier",
        }
        details.append({"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]})
        if retry_after is not None and retry_after.isdecimal():
            details.append(
                {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{retry_after}s"}
            )
    made: dict[str, Any] = {
        "code": status,
        "message": message or _MESSAGES.get(status, "Something is wrong."),
        "status": _STATUS.get(status, "UNKNOWN"),
    }
    return {"error": made | ({"details": details} if details else {})}
