"""What went over the wire, held against the document."""

from __future__ import annotations

import copy
import re
from functools import cache
from typing import Any

import httpx
import jsonschema_rs

from postmill.api.document import METHODS
from tests.support.reference.http import document

EXEMPT = {
    "open_session": "for browsers",
    "close_session": "for browsers",
    "receive_webhook": "for senders of webhooks, who sign",
}
"""Operations without a method."""


@cache
def operations() -> dict[str, dict[str, Any]]:
    """Every operation of the document by its name, with `method` and `path`."""
    return {
        item[method]["operationId"]: {**item[method], "method": method.upper(), "path": path}
        for path, item in document()["paths"].items()
        for method in METHODS
        if method in item
    }


class Recording(httpx.AsyncBaseTransport):
    """Notes which operations were asked for, and refuses an answer that has more or less than the document says.

    The document leaves room for fields that later versions add; here every field must be one that it names.
    """

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner
        self.seen: set[str] = set()
        self._schemas = _closed(copy.deepcopy(document()["components"]["schemas"]))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._inner.handle_async_request(request)
        name, operation = _operation(request)
        if name is not None:
            self.seen.add(name)
            said = operation["responses"][str(response.status_code)].get("content", {})
            if "application/json" in said:
                await response.aread()
                schema = {**said["application/json"]["schema"], "components": {"schemas": self._schemas}}
                jsonschema_rs.validate(schema, response.json())
        return response


def _operation(request: httpx.Request) -> tuple[str | None, dict[str, Any]]:
    path = request.url.raw_path.decode().partition("?")[0]
    found = {
        name: one
        for name, one in operations().items()
        # The name of a limit has slashes.
        if one["method"] == request.method
        and re.fullmatch(re.sub(r"\{[^}]*\}", "[^/]+", one["path"].replace("{limit_name}", ".+")), path)
    }
    if not found:
        assert path == "/api/v1/openapi.json", request.url
        return None, {}
    # Of /jobs/{job_id} and /jobs/summary the latter is meant.
    name = min(found, key=lambda name: found[name]["path"].count("{"))
    return name, found[name]


def _closed(schemas: dict[str, Any]) -> dict[str, Any]:
    for schema in schemas.values():
        if "properties" in schema:
            schema["additionalProperties"] = False
    return schemas
