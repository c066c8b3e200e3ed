"""Settings of the cold archive: where it is, and what its files are."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr

from postmill.domain.settings_artifacts import as_text, is_object, options_in
from postmill.domain.settings_types import Count, Section

_TAKEN = frozenset({"http", "https", "data", "zip", "tar", "libarchive", "git", "github", "reference"})


def _is_place(value: SecretStr | None) -> SecretStr | None:
    """A URL that can be written to, of one protocol only: chains (`simplecache::…`) may fetch from anywhere."""
    if value is None:
        return None
    text = value.get_secret_value()
    protocol, mark, rest = text.partition("://")
    if "::" in text or not mark or not rest.strip("/") or urlsplit(text).query or "\0" in text:
        raise ValueError("must be one URL such as file:///srv/archive or s3://bucket/archive")
    if protocol in _TAKEN:
        raise ValueError(f"must be a place that can be written to, not {protocol}://")
    if ".." in rest.split("/"):
        raise ValueError("must not hold ..")
    return value


class ArchiveSettings(Section):
    """The cold archive."""

    url: Annotated[SecretStr | None, AfterValidator(_is_place)] = Field(
        default=None,
        description="fsspec URL of the cold archive, e.g. `file:///srv/archive` or `s3://bucket/archive`; none is no"
        " archive: what is past its retention is dropped.",
    )
    options: Annotated[SecretStr | None, BeforeValidator(as_text), AfterValidator(is_object)] = Field(
        default=None,
        description="Options of the archive's fsspec implementation, such as credentials: a JSON object, or a table.",
    )
    format: Literal["ndjson", "parquet"] = Field(
        default="ndjson", description="`ndjson`: lines of JSON, compressed by gzip; `parquet`: needs pyarrow."
    )
    rows_per_file: Count = Field(default=250_000, description="Most rows in one file.")

    @property
    def address(self) -> str | None:
        """`url` in clear, for the archive only."""
        return self.url.get_secret_value() if self.url else None

    @property
    def storage_options(self) -> dict[str, Any]:
        """`options` in clear, for the archive only."""
        return options_in(self.options)
