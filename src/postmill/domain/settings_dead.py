"""Settings of dead letters: when somebody is told, and which are replayed by themselves."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from postmill.domain.settings_types import Count, Seconds, Section

Above = Annotated[int, Field(ge=0)] | Literal["off"]
"""So many, or `off`."""


class DeadLetterSettings(Section):
    """When an incident is raised."""

    alert_above: Above = Field(
        default=10,
        description="An incident is raised when more dead letters than this are open in a queue; `off` is never.",
    )


class RecoverySettings(Section):
    """A recovery rule, as `recovery.<NAME>`: dead letters that have all it names are replayed by themselves."""

    # Seed 4, section 5, "Automated Recovery".

    reason: str | None = Field(
        default=None, description="Given up for this reason, e.g. `max_retries_exceeded`."
    )
    queue: str | None = Field(default=None, description="Of this queue.")
    job_type: str | None = Field(default=None, description="Of this job type.")
    error_class: str | None = Field(
        default=None, description="With this class of error, e.g. `QuotaExceeded`."
    )
    error_code: str | None = Field(default=None, description="With this error code.")
    error_status: int | None = Field(default=None, description="With this HTTP status, e.g. 429.")
    message: str | None = Field(
        default=None, min_length=1, description="With this in the error's message, in any case, e.g. `quota`."
    )
    older_than: Seconds = Field(default=86400.0, description="Seconds since it was given up: 24 hours.")
    times: Count = Field(
        default=1, description="Replays by this rule of one job, and of its replays, in all."
    )
    most: Count = Field(default=1000, description="Replays by this rule in an hour, over all jobs.")

    @model_validator(mode="after")
    def _names_something(self) -> Self:
        if not self.condition:
            raise ValueError(
                "name at least one of reason, queue, job_type, error_class, error_code, error_status, message:"
                " a rule without any would replay every dead letter"
            )
        return self

    @property
    def condition(self) -> dict[str, Any]:
        """What a letter must have."""
        return self.model_dump(exclude={"older_than", "times", "most"}, exclude_none=True)

    @property
    def facts(self) -> dict[str, Any]:
        """The rule as the database takes it."""
        return self.model_dump(exclude_none=True)
