"""Settings of the web console."""

from __future__ import annotations

from pydantic import Field

from postmill.domain.settings_types import Section


class ConsoleSettings(Section):
    """The web console, which `postmill server` and `postmill up` serve."""

    environment: str = Field(
        default="",
        max_length=40,
        description="Name of the installation, shown on every page; `production` is red. Empty shows none.",
    )
