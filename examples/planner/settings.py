"""What the application is told by its environment. Postmill's own settings are in postmill.toml."""

from __future__ import annotations

import os
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

VARIABLES = {
    "database_url": "PLANNER_DATABASE_URL",
    "connections": "PLANNER_CONNECTIONS",
    "timeout": "PLANNER_TIMEOUT",
    "smtp_url": "SMTP_URL",
    "mail_from": "PLANNER_MAIL_FROM",
    "sms_url": "TWILIO_URL",
    "sms_account": "TWILIO_ACCOUNT_SID",
    "sms_token": "TWILIO_AUTH_TOKEN",
    "sms_from": "TWILIO_FROM",
    "push_url": "EXPO_URL",
    "push_token": "EXPO_ACCESS_TOKEN",
    "in_app_url": "ABLY_URL",
    "in_app_key": "ABLY_API_KEY",
}


class SettingsMissing(Exception):
    """A variable is missing or wrong; the message names it."""


class Settings(BaseModel):
    """Of one process."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    database_url: SecretStr
    connections: int = Field(default=8, ge=1)
    """Most connections of one process as each of the three roles."""
    timeout: float = Field(default=10.0, gt=0)
    """Seconds that one call of a provider may take."""
    smtp_url: SecretStr = SecretStr("smtp://localhost:25")
    """`smtp://` or `smtps://`, with user and password where the server asks for them."""
    mail_from: str = "planner@example.org"
    sms_url: str = "https://api.twilio.com"
    sms_account: str = ""
    sms_token: SecretStr = SecretStr("")
    sms_from: str = ""
    push_url: str = "https://exp.host"
    push_token: SecretStr = SecretStr("")
    in_app_url: str = "https://rest.ably.io"
    in_app_key: SecretStr = SecretStr("")


def from_environment(env: Mapping[str, str] = os.environ) -> Settings:
    """The settings of this process. Raises SettingsMissing."""
    given: dict[str, str] = {field: env[name] for field, name in VARIABLES.items() if env.get(name)}
    if "database_url" not in given and env.get("POSTMILL_DATABASE_URL"):
        given["database_url"] = env["POSTMILL_DATABASE_URL"]
    try:
        return Settings.model_validate(given)
    except ValidationError as fault:
        [first, *_] = fault.errors(include_input=False)
        name = VARIABLES[str(first["loc"][0])]
        raise SettingsMissing(f"{name}: {first['msg']}; see examples/planner/README.md") from None
