"""What the environment says of social networks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated

from cryptography.fernet import Fernet
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr

from examples.homepage.environment import read

VARIABLES = {
    "token_keys": "SOCIAL_TOKEN_KEYS",
    "client_id": "SOCIAL_CLIENT_ID",
    "client_secret": "SOCIAL_CLIENT_SECRET",
    "base_url": "SOCIAL_URL",
    "timeout": "SOCIAL_TIMEOUT",
}


def _keys(value: object) -> object:
    if not isinstance(value, str):
        return value
    keys = [part.strip() for part in value.split(",") if part.strip()]
    for key in keys:
        Fernet(key)  # ValueError says what a key is
    return tuple(map(SecretStr, keys))


class SocialSettings(BaseModel):
    """Of one process."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    token_keys: Annotated[tuple[SecretStr, ...], BeforeValidator(_keys)] = ()
    """Keys of tokens, the newest first: it encrypts, all decrypt. Each as `Fernet.generate_key()` makes it. Without one no
    token is read or written."""
    client_id: str = ""
    client_secret: SecretStr = SecretStr("")
    base_url: str = "https://api.x.com"
    timeout: float = Field(default=20.0, gt=0, lt=60)
    """Seconds of one request; less than the minute for which a renewal is waited for."""


def from_environment(env: Mapping[str, str] = os.environ) -> SocialSettings:
    """The settings of this process. Raises SettingsMissing."""
    return read(SocialSettings, VARIABLES, env)
