"""What a request says of the work it belongs to: its correlation and its trace (W3C Trace Context)."""

from __future__ import annotations

import re

from fastapi import Request

# Version 00 is four fields; a higher one may have more, of which only these are ours to pass on.
_TRACEPARENT = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-[!-~]*)?"
)
_LONGEST = 200


def traceparent(request: Request) -> str | None:
    """The header `traceparent` where it is well formed; a malformed one is as none (section 3.2.2.5)."""
    sent = request.headers.get("traceparent", "")
    if not _TRACEPARENT.fullmatch(sent) or (sent.startswith("00") and len(sent) != 55):
        return None
    return sent[:55]


def correlation_id(request: Request) -> str | None:
    """The header `X-Correlation-ID` where it is decent: 1 to 200 printable ASCII characters."""
    sent = request.headers.get("x-correlation-id", "")
    return sent if 0 < len(sent) <= _LONGEST and sent.isascii() and sent.isprintable() else None
