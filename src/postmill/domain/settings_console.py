"""Settings of the web console."""

from __future__ import annotations

from pydantic import Field

from postmill.domain.settings_types import Seconds, Section


class ConsoleSettings(Section):
    """The web console, which `postmill server` and `postmill up` serve."""

    environment: str = Field(
        default="",
        max_length=40,
        description="Name of the installation, shown on every page; `production` is red. Empty shows none.",
    )
    trace_url: str = Field(
        default="",
        pattern=r"^(https?://[^\s{}]+\{trace_id\}[^\s{}]*)?$",
        description="Address of a trace, with `{trace_id}` in it, to which the page of a job links. Empty: no link.",
    )
    undo_window: Seconds = Field(
        default=10.0,
        description="Seconds for which a bulk operation that was begun here does nothing yet, and can be undone.",
    )
    second_person_above: int | None = Field(
        default=None,
        ge=0,
        description="A bulk operation on more jobs than that waits until somebody else approves it; none is never.",
    )
