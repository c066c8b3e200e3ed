"""Job types for the tests of the frameworks."""

from __future__ import annotations

from flask import current_app, has_app_context

from postmill import job


@job
def send_receipt(order: int) -> None:
    """Does nothing."""


@job(queue="mail")
async def name_app() -> str | None:
    """In the context of a Flask application."""
    return current_app.name if has_app_context() else None


@job(queue="mail")
def name_app_in_a_thread() -> str | None:
    """The same, in a thread."""
    return current_app.name if has_app_context() else None
