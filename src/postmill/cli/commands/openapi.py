"""`postmill openapi`: what the HTTP API is, for other programs."""

from __future__ import annotations

from postmill.cli.run import Run


def show_openapi(run: Run) -> None:
    """Print the OpenAPI document of the HTTP API (3.1, JSON). Needs neither a database nor settings."""
    from postmill.api.app import openapi

    run.out.document(openapi())
