"""What a request brings along for its jobs: request id, correlation id, trace."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from uuid import uuid4

from fastapi import Request, Response
from opentelemetry import trace
from opentelemetry.trace import SpanKind
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

REQUEST_ID, CORRELATION_ID = "X-Request-Id", "X-Correlation-Id"
_FORM = re.compile(r"[A-Za-z0-9._:/-]{1,128}")
_propagator = TraceContextTextMapPropagator()


async def within_trace(request: Request, proceed: Callable[[Request], Awaitable[Response]]) -> Response:
    """A middleware: names the request, and opens its span, whose child every job of the request will be.

    Ids that the caller sends are kept where they look like ids. Without a tracer provider its trace is handed on as it came.
    """
    state = request.state
    state.request_id = _given(request, REQUEST_ID) or str(uuid4())
    state.correlation_id = _given(request, CORRELATION_ID) or state.request_id
    came = _propagator.extract(request.headers)
    with trace.get_tracer("examples.planner").start_as_current_span(
        f"{request.method} {request.url.path}", came, kind=SpanKind.SERVER
    ):
        carrier: dict[str, str] = {}
        _propagator.inject(carrier)
        state.traceparent = carrier.get("traceparent")
        answer = await proceed(request)
    answer.headers[REQUEST_ID] = state.request_id
    return answer


def _given(request: Request, header: str) -> str | None:
    value = request.headers.get(header, "")
    return value if _FORM.fullmatch(value) else None
