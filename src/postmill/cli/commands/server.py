"""`postmill server`: its options. FastAPI and uvicorn are imported when they are needed."""

from __future__ import annotations

from typing import Annotated

import typer

from postmill.cli.run import Run


def server(
    run: Run,
    host: Annotated[
        str | None, typer.Option("--host", metavar="ADDRESS", help="Where to listen (default: settings).")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", min=0, max=65535, help="Port (default: settings, 8700); 0 is a free one."),
    ] = None,
    child: Annotated[bool, typer.Option("--child", hidden=True)] = False,
    worker: Annotated[str | None, typer.Option("--worker", hidden=True, metavar="URL")] = None,
) -> None:
    """Serve the HTTP API (under /api/v1), /healthz, /readyz and /metrics until SIGTERM or Ctrl-C.

    The first signal lets requests end, the second ends at once. Every request needs credentials: an API key (postmill
    keys create), a login (postmill login), or a token of your OpenID Connect provider (settings oidc). Until there is
    one of these it listens on this machine only.
    """
    from postmill.cli.serving import run_server

    run_server(run, host, port, child=child, worker=worker)
