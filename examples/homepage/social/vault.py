"""Tokens at rest: encrypted with the newest key, and bound to their account, so that a copied row opens nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from pydantic import SecretStr


class VaultError(Exception):
    """Tokens cannot be opened: the key is missing, or they are another account's. To try again is of no use."""

    retryable = False


@dataclass(frozen=True, slots=True)
class Tokens:
    """Of one account. They show themselves to nobody: no log, error or trace that prints this has them."""

    access: SecretStr
    refresh: SecretStr


class Vault:
    """`keys`: the newest first."""

    def __init__(self, keys: Sequence[SecretStr]) -> None:
        self._keys = [Fernet(key.get_secret_value()) for key in keys]

    def seal(self, account: UUID, tokens: Tokens) -> bytes:
        """Encrypted with the newest key. Raises VaultError without one."""
        if not self._keys:
            raise VaultError("there is no key for tokens: see SOCIAL_TOKEN_KEYS")
        text = json.dumps([str(account), tokens.access.get_secret_value(), tokens.refresh.get_secret_value()])
        return self._keys[0].encrypt(text.encode())

    def open(self, account: UUID, sealed: bytes) -> Tokens:
        """Decrypted with whichever key it takes. Raises VaultError."""
        if not self._keys:
            raise VaultError("there is no key for tokens: see SOCIAL_TOKEN_KEYS")
        try:
            whose, access, refresh = json.loads(MultiFernet(self._keys).decrypt(sealed))
        except (InvalidToken, ValueError):
            raise VaultError("no key of SOCIAL_TOKEN_KEYS opens the tokens") from None
        if whose != str(account):
            raise VaultError("the tokens are another account's")
        return Tokens(SecretStr(access), SecretStr(refresh))

    def is_old(self, sealed: bytes) -> bool:
        """Whether another than the newest key has encrypted them."""
        try:
            self._keys[0].decrypt(sealed)
        except InvalidToken:
            return True
        return False
