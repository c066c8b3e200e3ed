"""What the environment says of the marketplace."""

from __future__ import annotations

import os
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field

from examples.homepage.environment import read

VARIABLES = {"reminder_days": "LISTING_REMINDER_DAYS", "batch": "LISTING_BATCH"}


class MarketplaceSettings(BaseModel):
    """Of one process."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reminder_days: float = Field(default=3, gt=0, le=365)
    """How many days before the end of a listing its seller is reminded."""
    batch: int = Field(default=500, ge=1, le=10_000)
    """How many listings one transaction changes."""


def marketplace_settings(env: Mapping[str, str] = os.environ) -> MarketplaceSettings:
    """The settings of this process. Raises SettingsMissing."""
    return read(MarketplaceSettings, VARIABLES, env)
