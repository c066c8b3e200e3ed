"""The OpenAPI document: what the routes say, and what holds for all of them."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from postmill.api.guard import is_open
from postmill.api.problems import MEDIA_TYPE

PROBLEM: dict[str, Any] = {
    "type": "object",
    "description": "An error (RFC 9457).",
    "required": ["type", "title", "status", "detail", "instance", "request_id"],
    "properties": {
        "type": {"type": "string", "description": "Stable name of the kind, as a URN."},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What was expected, what came, what to do."},
        "instance": {"type": "string", "description": "The path that was asked for."},
        "request_id": {"type": ["string", "null"]},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["at", "message"],
                "properties": {"at": {"type": "string"}, "message": {"type": "string"}},
            },
        },
    },
    "examples": [
        {
            "type": "urn:postmill:problem:not-found",
            "title": "not found",
            "status": 404,
            "detail": "there is no such job",
            "instance": "/api/v1/jobs/019c6d5e-2b7a-7c11-8abc-0242ac120002",
            "request_id": "6d1f0c9a4e0b4c8f9f5f0a5e9c1d2b3a",
        }
    ],
}

ERRORS = {
    "400": "The body is not JSON.",
    "401": "No credentials, or none that hold.",
    "403": "The role may not do this.",
    "404": "It does not exist, or not within the scope of who asks.",
    "409": "It cannot be done in the state that it is in, or at this moment.",
    "413": "The body is larger than 1 MiB.",
    "422": "A parameter or a field is unknown, missing or wrong.",
    "429": "Too many requests; `Retry-After` says for how long.",
    "503": "The database does not answer; try again.",
}

IDEMPOTENCY_KEY: dict[str, Any] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "The request is done once: sent again within 24 hours it gets the same answer.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"},
    "example": "6f46a1d8-6e2b-4ecf-8b46-9ec2e6a37f09",
}

REQUEST_ID: dict[str, Any] = {
    "description": "The request's id: the one that it brought along, if that is printable, or a new one.",
    "required": True,
    "schema": {"type": "string", "minLength": 1, "maxLength": 100},
}

WITHOUT_KEY = frozenset({"claim_jobs", "put_artifact"})
"""Operations that take no Idempotency-Key, beside those that need no credentials: nobody knows whose key it would be."""

METHODS = ("get", "post", "put", "patch", "delete")


def operation_id(route: APIRoute) -> str:
    """The function's name: `verb_noun`."""
    return route.name


def document(app: FastAPI) -> dict[str, Any]:
    """The document of an application."""
    made: dict[str, Any] = get_openapi(
        title=app.title,
        version=app.version,
        openapi_version="3.1.0",
        description=app.description,
        routes=app.routes,
    )
    parts = made.setdefault("components", {})
    schemas = parts.setdefault("schemas", {})
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    for model in schemas.values():
        _untitle(model)
    schemas["Problem"] = PROBLEM
    parts["responses"] = {_name(status): _error(status, text) for status, text in ERRORS.items()}
    parts["parameters"] = {"IdempotencyKey": IDEMPOTENCY_KEY}
    parts["headers"] = {"RequestId": REQUEST_ID}
    parts["securitySchemes"] = {
        "bearer": {"type": "http", "scheme": "bearer", "description": "An API key, or a provider's token."}
    }
    for path, item in made["paths"].items():
        for method in METHODS:
            if method in item:
                _complete(item[method], method, path)
    return made


def _complete(operation: dict[str, Any], method: str, path: str) -> None:
    responses = operation["responses"]
    open_to_all = is_open(method.upper(), path)
    common = ["401", "403", "404", "422", "429", "503"]
    if method != "get":
        common += ["400", "409", "413", "422"]
        if not open_to_all and operation["operationId"] not in WITHOUT_KEY:
            operation.setdefault("parameters", []).append({"$ref": "#/components/parameters/IdempotencyKey"})
    for status in common:
        said = responses.get(status, {})
        # A status that the route itself describes keeps its words; FastAPI's own 422 has a schema that is not ours.
        if status == "422" or not said:
            responses[status] = {"$ref": f"#/components/responses/{_name(status)}"}
        elif "content" not in said:
            said["content"] = _content()
    for said in responses.values():
        if "$ref" not in said:
            said.setdefault("headers", {}).update(_request_id())
    operation["security"] = [] if open_to_all else [{"bearer": []}]
    operation["responses"] = dict(sorted(responses.items()))


def _untitle(schema: Any) -> None:
    """Takes out the titles that only say a field's name again."""
    if isinstance(schema, list):
        for one in schema:
            _untitle(one)
    elif isinstance(schema, dict):
        if isinstance(schema.get("title"), str):
            del schema["title"]
        for name, one in schema.items():
            if name == "properties":
                for field in one.values():
                    _untitle(field)
            elif name not in ("examples", "example", "default", "const", "enum"):
                _untitle(one)


def _name(status: str) -> str:
    return f"Problem{status}"


def _error(status: str, text: str) -> dict[str, Any]:
    made: dict[str, Any] = {"description": text, "content": _content(), "headers": _request_id()}
    if status in ("429", "503"):
        made["headers"]["Retry-After"] = {"description": "Seconds.", "schema": {"type": "integer"}}
    return made


def _request_id() -> dict[str, Any]:
    return {"X-Request-Id": {"$ref": "#/components/headers/RequestId"}}


def _content() -> dict[str, Any]:
    return {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
