"""The policies of a job type that has no function here: a command's, or one whose jobs HTTP workers run."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from postmill.domain.classify import Classifier
from postmill.domain.job_type_options import Keep, check_name, check_options
from postmill.domain.outcome import OnExhausted
from postmill.domain.payload import decode
from postmill.domain.policy import RetryPolicy


@dataclass(frozen=True, slots=True)
class StoredType:
    """What the outcome of a job follows, as in a JobType. Handlers of it are never called as a function."""

    name: str
    queue: str
    retry: RetryPolicy
    on_exhausted: OnExhausted
    keep: Keep
    classifier: Classifier | None
    log_fields: tuple[str, ...]
    secret_keys: tuple[str, ...]
    budget: str | None

    @classmethod
    def of(cls, name: str, **options: Any) -> StoredType:
        """With the options of `@job`, checked as there.

        Raises:
            DefinitionError: naming the type, the option and the fault.
        """
        made = check_options(check_name(name), options, None)
        return cls(name, **{field.name: made[field.name] for field in fields(cls) if field.name != "name"})

    def bind(self, payload: bytes) -> dict[str, Any]:
        """The payload by its names, as it is stored. Raises ValueError for what is no object."""
        found = decode(payload)
        if not isinstance(found, dict):
            raise ValueError("the payload is no object")
        return found
