"""Settings about what jobs run and carry: commands, and encrypted payloads."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field, SecretStr

from postmill.domain.encryption import KeyRing
from postmill.domain.settings_types import Section, comma_separated


class CommandSettings(Section):
    """Definitions of kind `command`."""

    argv_template: Annotated[tuple[str, ...] | None, BeforeValidator(comma_separated)] = Field(
        default=None,
        description="Template of definitions that name none, a list of texts; `{key}` is the definition's key.",
    )


class EncryptionSettings(Section):
    """Keys of encrypted payloads."""

    keys: Annotated[tuple[SecretStr, ...], BeforeValidator(comma_separated)] = Field(
        default=(),
        description="Entries `NAME:KEY` (32 bytes in base64); the first encrypts, all decrypt. See `postmill encryption`.",
    )

    @property
    def ring(self) -> KeyRing | None:
        """The keys, checked; None: there are none. Raises SettingsError."""
        return KeyRing.of(self.written_keys) if self.keys else None

    @property
    def written_keys(self) -> tuple[str, ...]:
        """The entries in clear, for the key ring only."""
        return tuple(key.get_secret_value() for key in self.keys)
