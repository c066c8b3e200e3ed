"""The server itself: probes, metrics, the doctor, its own description."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue, TypeAdapter

from postmill.http.call import Call, at, get, model, text
from postmill.shapes.doctor import Report
from postmill.shapes.health import Alive, Readiness

_DOCUMENT = TypeAdapter(dict[str, JsonValue])


def get_health() -> Call[Alive]:
    """The process answers."""
    return get("/healthz", model(Alive))


def get_readiness() -> Call[Readiness]:
    """Whether the server can work: its database answers, with a schema that it knows."""
    return Call("GET", "/readyz", model(Readiness), answers=frozenset({503}))


def get_metrics() -> Call[str]:
    """Metrics of the server and the fleet, as Prometheus text. Needs the permission `metrics.read`."""
    return get("/metrics", text)


def examine_platform(*, only: Sequence[str] | None = None) -> Call[Report]:
    """What the doctor finds of server, schema, workers and jobs; `only` names checks. Needs `doctor.read`."""
    return get(at("doctor"), model(Report), only=only)


def get_openapi() -> Call[dict[str, JsonValue]]:
    """The OpenAPI document."""
    return get(at("openapi.json"), lambda response: _DOCUMENT.validate_json(response.content))
