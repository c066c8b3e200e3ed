"""Artifacts: files that jobs read or made, each with a checksum. One never changes: what replaces it is another one."""

from __future__ import annotations

import mimetypes
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from postmill.domain.errors import ArtifactRefused
from postmill.domain.text import unstorable

REFERENCE = "artifact:"
"""Before an id: how a payload refers to an artifact."""

LONGEST_NAME = 255
"""Bytes of UTF-8: what a file system takes as the name of a file."""

DEFAULT_TYPE = "application/octet-stream"

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_TYPE = re.compile(rf'{_TOKEN}/{_TOKEN}(?:[ \t]*;[ \t]*{_TOKEN}=(?:{_TOKEN}|"[ !#-\[\]-~]*"))*')
_LONGEST_TYPE = 200


@dataclass(frozen=True, slots=True)
class Artifact:
    """What is known of an artifact.

    Attributes:
        id: of this file and no other; a job's artifact of the same name that comes later has another one.
        tenant_id: whose it is.
        job_id: the job that made it; None: a job is to read it.
        name: the name of a file, without folders.
        content_type: a media type (RFC 9110, section 8.3).
        size: bytes.
        sha256: checksum, in hexadecimal digits.
        attempt: which attempt of the job made it.
        created_at, expires_at: it can be read from the one to the other.
        expired: it could be read, until lately.
    """

    id: UUID
    tenant_id: UUID
    job_id: UUID | None
    name: str
    content_type: str
    size: int
    sha256: str
    attempt: int | None
    created_at: datetime
    expires_at: datetime
    expired: bool = False

    @property
    def reference(self) -> str:
        """`artifact:<id>`, for the payload of a job that is to read it."""
        return f"{REFERENCE}{self.id}"


def check_name(name: object) -> str:
    """`name`, if a file can be called so on every system and a header can carry it.

    Raises:
        ArtifactRefused: it is no text, empty, longer than 255 bytes, `.` or `..`, begins or ends with a space, or holds
            `/`, a backslash, a control character or what is no character at all.
    """
    if not isinstance(name, str):
        raise ArtifactRefused(f"the name of an artifact is a text, not {type(name).__name__}")
    shown = ascii(name[:80])
    why = unstorable(name)
    if why is None and not name:
        why = "is empty"
    if why is None and len(name.encode()) > LONGEST_NAME:
        why = f"has {len(name.encode())} bytes; at most {LONGEST_NAME} are allowed"
    if why is None and ("/" in name or "\\" in name or name in (".", "..")):
        why = "is a path; an artifact has the name of a file, without folders"
    if why is None and (not name.isprintable() or name != name.strip()):
        why = "holds a control character, or a space at an end"
    if why is not None:
        raise ArtifactRefused(f"the name {shown} cannot be an artifact's: it {why}")
    return name


def check_content_type(given: str | None, name: str) -> str:
    """The media type, or the one that the name's ending tells. Raises ArtifactRefused where it is none."""
    if given is None:
        return mimetypes.guess_type(name)[0] or DEFAULT_TYPE
    if not isinstance(given, str) or len(given) > _LONGEST_TYPE or not _TYPE.fullmatch(given):
        raise ArtifactRefused(f"content_type {ascii(given)[:80]} is no media type; write it as text/csv")
    return given


def artifact_id(given: UUID | str) -> UUID | None:
    """The id in a UUID, its text, or a reference `artifact:<id>`; None where there is none: then it is a name."""
    if isinstance(given, UUID):
        return given
    try:
        return UUID(given.removeprefix(REFERENCE))
    except (ValueError, AttributeError, TypeError):
        return None


def made_at(id: UUID) -> datetime:
    """When an id was made: a UUIDv7 begins with its moment, by the database's clock (RFC 9562, section 5.7)."""
    return datetime.fromtimestamp((id.int >> 80) / 1000, UTC)


def is_moment(id: UUID) -> bool:
    """Whether an id is one that tells when it was made."""
    try:
        made_at(id)
    except (ValueError, OverflowError):
        return False  # beyond the year 9999
    return id.version == 7


def older(id: UUID, before: datetime) -> bool:
    """Whether an id was made before a moment."""
    return made_at(id) < before


def place_of(id: UUID, tenant_id: UUID) -> str:
    """Where in the store the file lies: `<day>/<tenant>/<id>`. Of ids only, so that no name can lead elsewhere."""
    return f"{made_at(id):%Y-%m-%d}/{tenant_id}/{id}"
