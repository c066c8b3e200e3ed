"""What the environment says of AI tagging."""

from __future__ import annotations

import os
from collections.abc import Mapping
from decimal import Decimal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from examples.homepage.environment import read

VARIABLES = {
    "api_key": "ANTHROPIC_API_KEY",
    "base_url": "ANTHROPIC_BASE_URL",
    "model": "AI_MODEL",
    "price_in": "AI_PRICE_IN",
    "price_out": "AI_PRICE_OUT",
    "max_content_length": "MAX_CONTENT_LENGTH",
    "max_tokens": "AI_MAX_TOKENS",
    "temperature": "AI_TEMPERATURE",
    "timeout": "AI_TIMEOUT",
    "delay_step": "AI_DELAY_STEP",
}


class TaggingSettings(BaseModel):
    """Of one process."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    api_key: SecretStr | None = None
    """Without one nothing is tagged, and jobs say so."""
    base_url: str = "https://api.anthropic.com"
    model: str = "claude-sonnet-4-6"
    price_in: Decimal = Field(default=Decimal(3), ge=0)
    """USD for a million tokens that the model reads."""
    price_out: Decimal = Field(default=Decimal(15), ge=0)
    """USD for a million tokens that it writes."""
    max_content_length: int = Field(default=4000, ge=100)
    """Most characters of an item's content that are sent."""
    max_tokens: int = Field(default=400, ge=100)
    """Most tokens of an answer; one that is longer is cut, and of no use."""
    temperature: float | None = Field(default=None, ge=0, le=1)
    """Of models that take one; none: the model's own."""
    timeout: float = Field(default=30.0, gt=0)
    """Seconds from a question to the last byte of its answer."""
    delay_step: float = Field(default=5.0, gt=0, le=60)
    """Seconds by which the delay between batches begins when the service says that it is asked too often."""


def from_environment(env: Mapping[str, str] = os.environ) -> TaggingSettings:
    """The settings of this process. Raises SettingsMissing."""
    return read(TaggingSettings, VARIABLES, env)
