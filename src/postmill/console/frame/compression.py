"""Pages on the wire: a list of jobs is 50 kB of marks, of which a tenth goes over the line."""

from __future__ import annotations

import gzip

from fastapi import Request
from starlette.responses import Response

LEAST = 1400
"""Bytes that fit into one packet anyway."""
LEVEL = 5
"""A list takes a millisecond; the highest level takes three for a twentieth less."""


def compressed(request: Request, answer: Response) -> Response:
    """The answer as the browser takes it, if it is text.

    What another site's page made the browser ask for stays as it is: beside a text of that site's choice, the length of
    what is compressed would tell of the secrets in a page (BREACH, https://www.breachattack.com).
    """
    kind = answer.headers.get("content-type", "")
    answer.headers.add_vary_header("Accept-Encoding")
    if (
        "gzip" not in request.headers.get("accept-encoding", "")
        or request.headers.get("sec-fetch-site", "none") == "cross-site"
        or not kind.startswith(("text/html", "application/json"))
        or "content-encoding" in answer.headers
        or len(getattr(answer, "body", b"")) < LEAST
    ):
        return answer
    answer.body = gzip.compress(bytes(answer.body), LEVEL, mtime=0)
    answer.headers["Content-Encoding"] = "gzip"
    answer.headers["Content-Length"] = str(len(answer.body))
    return answer
