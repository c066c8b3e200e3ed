"""Links from Django's pages to the console."""

from __future__ import annotations

from uuid import UUID

from django.utils.html import format_html
from django.utils.safestring import SafeString

from postmill.contrib.django.conf import config


def console_url(job: UUID | str | None = None) -> str | None:
    """Address of the console, or of a job's page there; None if POSTMILL names no CONSOLE_URL."""
    base = config().console_url
    if base is None:
        return None
    return f"{base.rstrip('/')}/jobs/{job}" if job is not None else base


def job_link(job: UUID | str | None) -> str | SafeString:
    """A job's id, as a link to its page where there is a console; for `list_display` and `readonly_fields`."""
    if job is None:
        return "-"
    url = console_url(job)
    return str(job) if url is None else format_html('<a href="{}">{}</a>', url, job)
