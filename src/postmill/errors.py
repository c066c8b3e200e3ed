"""Every error that Postmill raises at its callers, to catch by name."""

from __future__ import annotations

from postmill.domain.errors import (
    DatabaseMissing,
    DefinitionError,
    EnqueueRefused,
    InactiveJobType,
    JobDidNotSucceed,
    KeyBusy,
    KeyTaken,
    LeaseLost,
    NotFound,
    PayloadRefused,
    PostmillError,
    SchemaMissing,
    SerializationConflict,
    SettingsError,
    TimedOut,
    Undecodable,
    UnknownJobType,
    UnknownQueue,
    WaitTimeout,
)

__all__ = [
    "DatabaseMissing",
    "DefinitionError",
    "EnqueueRefused",
    "InactiveJobType",
    "JobDidNotSucceed",
    "KeyBusy",
    "KeyTaken",
    "LeaseLost",
    "NotFound",
    "PayloadRefused",
    "PostmillError",
    "SchemaMissing",
    "SerializationConflict",
    "SettingsError",
    "TimedOut",
    "Undecodable",
    "UnknownJobType",
    "UnknownQueue",
    "WaitTimeout",
]
