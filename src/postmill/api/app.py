"""Puts the application together."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from postmill.api import faults, problems
from postmill.api.body_limit import BodyLimit
from postmill.api.direct import Direct
from postmill.api.document import document, operation_id
from postmill.api.face import Face
from postmill.api.guard import Guard
from postmill.api.including import included
from postmill.api.measuring import Measured, Requests
from postmill.api.opening import opening
from postmill.api.rate_limit import RateLimit
from postmill.api.request_ids import RequestIds
from postmill.api.root_path import RootPath
from postmill.api.routes import BELOW_PREFIX, BESIDE_IT, health, route_named
from postmill.api.routes.work_artifacts import is_upload
from postmill.api.routing import PREFIX
from postmill.domain.settings import Settings
from postmill.telemetry.bus import Bus
from postmill.version import VERSION

DESCRIPTION = """The control plane of Postmill: jobs, triggers, definitions, and whoever may see them.

Every request needs credentials, sees its own tenant only, and is answered with its `X-Request-Id`. Errors are problem
documents (RFC 9457). Lists come in pages: follow `next`. Unknown fields and parameters are refused."""


def create_app(settings: Settings, bus: Bus | None = None, *, face: Face | None = None) -> FastAPI:
    """The API on the database of the settings.

    The application opens its connections at start-up and closes them at the end. It can be mounted into another one
    under any path; that one then has to enter its lifespan: `lifespan=lambda _: api.router.lifespan_context(api)`.

    Args:
        settings: `database_url` and `schema` are needed, and `server` is heeded.
        bus: where events about jobs of HTTP workers go; default: nobody listens.
        face: pages for people beside it; default: none (`postmill.console.create_app` is the one with the console).
    """
    server = settings.server
    app = FastAPI(
        title="Postmill",
        version=VERSION,
        description=DESCRIPTION,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=operation_id,
        lifespan=opening(settings, bus or Bus()),
    )
    problems.install(app)
    faults.install(app)
    metrics = health.open_metrics if server.open_metrics else health.closed_metrics
    app.router.routes += [*included(BELOW_PREFIX, PREFIX), *included((*BESIDE_IT, metrics))]
    app.state.requests = Requests()
    app.router.routes += included(face.routers if face else ())
    app.state.problem_page = face.problem_page if face else None
    # The last one added comes first.
    app.add_middleware(Direct, prefix=PREFIX, route=route_named("enqueue_job"))
    app.add_middleware(RateLimit, rate=server.rate_per_key)
    more = {("GET", "/metrics")} if server.open_metrics else set()
    app.add_middleware(
        Guard,
        more=frozenset(more | face.open if face else more),
        below=face.open_below if face else (),
        allow_from=server.allow_from,
        known=face.known if face else None,
    )
    app.add_middleware(BodyLimit, uploads=is_upload, largest=settings.artifacts.max_bytes)
    if server.trusted_proxies:
        app.add_middleware(ProxyHeadersMiddleware, trusted_hosts=server.trusted_proxies)
    app.add_middleware(Measured, requests=app.state.requests)
    if server.root_path.strip("/"):
        app.add_middleware(RootPath, root_path=server.root_path)
    app.add_middleware(RequestIds)
    return app


def openapi() -> dict[str, Any]:
    """The OpenAPI document; needs neither a database nor settings."""
    return document(create_app(Settings()))
