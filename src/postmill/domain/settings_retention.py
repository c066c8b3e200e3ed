"""Settings of the retention: for how long what grows is kept. An operator's rule (`postmill retention set`) goes before them."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from postmill.domain.settings_types import PositiveSeconds, Section, comma_separated

DAY = 86400.0


class RetentionSettings(Section):
    """How long ended jobs and other things are kept, counted from their end.

    History goes by whole partitions of the longest of succeeded, failed and canceled; what is kept for less goes before.
    """

    succeeded: PositiveSeconds = Field(
        default=30 * DAY, description="Seconds that succeeded jobs are kept: 30 days."
    )
    failed: PositiveSeconds = Field(
        default=30 * DAY, description="Seconds that failed jobs are kept: 30 days."
    )
    canceled: PositiveSeconds = Field(
        default=30 * DAY, description="Seconds that canceled jobs are kept: 30 days."
    )
    archive_after: PositiveSeconds = Field(
        default=30 * DAY,
        description="Seconds after which a dead letter goes to the cold archive, if there is one: 30 days.",
    )
    dead_letter: PositiveSeconds | None = Field(
        default=90 * DAY,
        description="Seconds after which a dead letter is deleted, from the archive, too: 90 days; none is never.",
    )
    keep_reasons: Annotated[tuple[str, ...], BeforeValidator(comma_separated)] = Field(
        default=("subject_deleted",),
        description="Dead letters with one of these reasons or error codes are never deleted.",
    )
    archive: PositiveSeconds | None = Field(
        default=730 * DAY,
        description="Seconds that history stays in the cold archive: 2 years; none is for ever.",
    )
    events: PositiveSeconds | None = Field(
        default=30 * DAY, description="Seconds that events, their deliveries and ticks are kept: 30 days."
    )
    audit: PositiveSeconds | None = Field(
        default=730 * DAY, description="Seconds that the audit log is kept: 2 years; none is for ever."
    )
    incidents: PositiveSeconds | None = Field(
        default=365 * DAY, description="Seconds that resolved incidents and notifications are kept: a year."
    )
    budgets: PositiveSeconds | None = Field(
        default=400 * DAY, description="Seconds that lines of budgets are kept: 400 days, a year and a month."
    )
    operations: PositiveSeconds | None = Field(
        default=90 * DAY, description="Seconds that ended bulk operations are kept: 90 days."
    )
    error_groups: PositiveSeconds | None = Field(
        default=365 * DAY,
        description="Seconds that a group of errors is kept after it was last seen: a year.",
    )
    rollup_minutes: PositiveSeconds | None = Field(
        default=30 * DAY,
        description="Seconds that rollups are kept by the minute, later by the hour: 30 days.",
    )
    rollups: PositiveSeconds | None = Field(
        default=730 * DAY, description="Seconds that rollups are kept at all: 2 years."
    )

    @property
    def seconds(self) -> dict[str, float | None]:
        """By subject, as the database has them; None is for ever."""
        return {name: getattr(self, name) for name in type(self).model_fields if name != "keep_reasons"}
