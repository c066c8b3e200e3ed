"""Idempotency keys: when the same work must not be queued twice, and for how long a key is remembered."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from types import MappingProxyType
from uuid import UUID

from postmill.domain.duration import seconds
from postmill.domain.errors import DefinitionError, PayloadRefused


class Mode(StrEnum):
    """How long a key refuses another job.

    `active`: until its job has ended (seed 3). `queued`: until its job is claimed, for coalescing. `window`:
    for a time from the first enqueue (seed 4: 24 h). `ttl`: for the time that the job's category keeps keys
    (seed 5).
    """

    ACTIVE = "active"
    QUEUED = "queued"
    WINDOW = "window"
    TTL = "ttl"


DEFAULT_WINDOW = timedelta(hours=24)
"""Seed 4, layer 1."""

TTL_BY_CATEGORY: Mapping[str, timedelta] = MappingProxyType(
    {
        "notifications": timedelta(days=7),
        "audit": timedelta(days=30),
        "planning": timedelta(days=30),
        "exports": timedelta(days=30),
        "imports": timedelta(days=30),
        "maintenance": timedelta(days=7),
    }
)
"""Seed 5, storage and TTL. It names none for audit enrichment; that of exports is taken."""

Key = str | Callable[..., str]
"""A template over the arguments, such as `embedding:{businessId}`, or a function of the arguments by name."""


@dataclass(frozen=True, slots=True)
class Idempotency:
    """How a job type's keys work, and how a key is made where the caller gives none.

    `window` is the time for the modes `window` (default 24 h) and `ttl` (required there; see `for_category`).
    Without `key` the default key is used: `<job_type>:<tenant>:<project?>:<stable_hash>`. DefinitionError for
    nonsense.

    `content` names the arguments that tell whether two jobs under one key are the same work (seed 4: a changed text is
    embedded all the same). An enqueue under a held key with other content makes a new job, which takes the key over; the
    holder is canceled (`superseded by <id>`) if it still waits, and left to end if it runs.
    """

    mode: Mode = Mode.ACTIVE
    window: timedelta | None = None
    key: Key | None = None
    content: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        try:
            mode = Mode(self.mode)
        except ValueError:
            raise DefinitionError(f"idempotency mode {self.mode!r} is none of: {', '.join(Mode)}") from None
        object.__setattr__(self, "mode", mode)
        timed = mode in (Mode.WINDOW, Mode.TTL)
        window = DEFAULT_WINDOW if self.window is None and mode is Mode.WINDOW else self.window
        if timed and window is None:
            raise DefinitionError("idempotency mode 'ttl' needs window=…, or Idempotency.for_category(…)")
        if not timed and window is not None:
            raise DefinitionError(f"idempotency mode {mode.value!r} takes no window")
        object.__setattr__(self, "window", None if window is None else check_window(window))
        object.__setattr__(self, "content", check_content(self.content))

    @classmethod
    def for_category(cls, category: str, key: Key | None = None) -> Idempotency:
        """Mode `ttl` with the time that seed 5 gives the category."""
        ttl = TTL_BY_CATEGORY.get(category)
        if ttl is None:
            known = ", ".join(TTL_BY_CATEGORY)
            raise DefinitionError(f"unknown job category {category!r}; known: {known}")
        return cls(Mode.TTL, ttl, key)

    def key_for(
        self,
        job_type: str,
        tenant: UUID,
        project: UUID | None,
        payload: bytes,
        arguments: Mapping[str, object],
    ) -> str:
        """The key of a job with these arguments. PayloadRefused where the template does not fit them."""
        if self.key is None:
            return default_key(job_type, tenant, project, payload)
        try:
            made = self.key.format_map(arguments) if isinstance(self.key, str) else self.key(**arguments)
        except Exception as fault:
            raise PayloadRefused("key", f"cannot be made: {type(fault).__name__}: {fault}") from None
        return made


def check_content(content: object) -> tuple[str, ...]:
    """The names of arguments as a tuple; DefinitionError for anything else."""
    if isinstance(content, str) or not isinstance(content, Iterable):
        raise DefinitionError(f"idempotency content is a list of arguments, not {content!r}")
    names = tuple(content)
    for name in names:
        if not isinstance(name, str) or not name:
            raise DefinitionError(f"idempotency content is a list of arguments, not of {name!r}")
    return tuple(dict.fromkeys(names))


def check_window(window: object) -> timedelta:
    """A time for a key as a timedelta; DefinitionError unless it is more than zero and at most ten years."""
    try:
        return timedelta(seconds=seconds(window, "window", zero=False))
    except (TypeError, ValueError) as fault:
        raise DefinitionError(str(fault)) from None


def default_key(job_type: str, tenant: UUID, project: UUID | None, payload: bytes | object) -> str:
    """`<job_type>:<tenant>:<project?>:<stable_hash>` (seed 5); without a project its place is empty."""
    return f"{job_type}:{tenant}:{project or ''}:{stable_hash(payload)}"


def stable_hash(payload: bytes | object) -> str:
    """SHA-256 (hex) of the canonical JSON of `payload` (JSON bytes, or plain data).

    Canonical: keys sorted, no white space, whole floats as integers, RFC 3339 instants in UTC. So equal
    inputs hash equally however they were written.
    """
    data = json.loads(payload) if isinstance(payload, bytes | bytearray) else payload
    text = json.dumps(
        _canonical(data), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


_INSTANT = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII)


def _canonical(value: object) -> object:
    if isinstance(value, str):
        return _canonical_text(value) if 20 <= len(value) <= 32 else value
    if isinstance(value, float):
        return int(value) if math.isfinite(value) and value == int(value) else value
    if isinstance(value, Mapping):
        return {str(key): _canonical(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(item) for item in value]
    return value


def _canonical_text(text: str) -> str:
    if _INSTANT.fullmatch(text):
        try:
            return datetime.fromisoformat(text.upper()).astimezone(UTC).isoformat()
        except (ValueError, OverflowError):
            return text
    return text
