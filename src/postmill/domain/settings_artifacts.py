"""Settings of artifacts: where their files are, how large they may be, and how long they stay."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr

from postmill.domain.settings_types import Count, PositiveSeconds, Section


def as_text(value: object) -> object:
    """A table of a settings file as the JSON text that an environment variable would have."""
    return json.dumps(value) if isinstance(value, Mapping) else value


def is_object(value: SecretStr | None) -> SecretStr | None:
    """ValueError for what is no JSON object."""
    if value is not None:
        try:
            found = json.loads(value.get_secret_value())
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise ValueError("must be an object, as JSON or as a table")
    return value


def options_in(value: SecretStr | None) -> dict[str, Any]:
    """Options in clear, for a store only."""
    found: dict[str, Any] = json.loads(value.get_secret_value()) if value else {}
    return found


class ArtifactSettings(Section):
    """Files that jobs read or made."""

    url: SecretStr | None = Field(
        default=None,
        description="fsspec URL of the store, e.g. `file:///srv/artifacts` or `s3://bucket/artifacts`; none is no store,"
        " but for `postmill up`, which keeps them in its data folder.",
    )
    options: Annotated[SecretStr | None, BeforeValidator(as_text), AfterValidator(is_object)] = Field(
        default=None,
        description="Options of the store's fsspec implementation, such as credentials: a JSON object, or a table.",
    )
    max_bytes: Count = Field(default=1 << 30, description="Largest size of an artifact, in bytes: 1 GiB.")
    max_files: Count = Field(
        default=100, description="Most files that a command may leave in its `artifacts` folder."
    )
    keep: PositiveSeconds = Field(
        default=30 * 86400.0,
        description="Seconds that an artifact is kept for which nothing else was said: 30 days.",
    )

    @property
    def address(self) -> str | None:
        """`url` in clear, for the store only."""
        return self.url.get_secret_value() if self.url else None

    @property
    def storage_options(self) -> dict[str, Any]:
        """`options` in clear, for the store only."""
        return options_in(self.options)

    def clear(self) -> dict[str, Any]:
        """All of it in clear, to be validated again by another process of ours."""
        return {
            "url": self.address,
            "options": self.storage_options or None,
            "max_bytes": self.max_bytes,
            "max_files": self.max_files,
            "keep": self.keep,
        }
