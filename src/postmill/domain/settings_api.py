"""Settings of programs that call the HTTP API."""

from __future__ import annotations

from pydantic import Field, SecretStr

from postmill.domain.settings_types import Section


class ApiSettings(Section):
    """Programs that call the HTTP API: `postmill.http`."""

    url: str | None = Field(
        default=None,
        description="Where the server is, with its path if it has one; none must be given in code.",
    )
    key: SecretStr | None = Field(default=None, description="The API key; none must be given in code.")
