"""Payloads encrypted at rest: AES-256-GCM under a ring of keys, of which the first encrypts and all decrypt.

A sealed payload is a JSON object with the one key `$encrypted`. It is bound to its job's tenant and type: put under
another one it does not open.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from postmill.domain.errors import PostmillError, SettingsError

MARK = "$encrypted"
_PREFIX = re.compile(rb'\s*\{\s*"\$encrypted"\s*:')
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}")
KEY_BYTES = 32
_NONCE_BYTES = 12


def is_key_name(text: str) -> bool:
    """Whether a key may be called so: 1 to 64 letters, digits, `_`, `.` and `-`, not first a mark."""
    return _NAME.fullmatch(text) is not None


class KeyMissing(PostmillError):
    """A payload is sealed under a key that this process does not have."""

    def __init__(self, name: str) -> None:
        self.key = name
        super().__init__(name)

    def __str__(self) -> str:
        return f"the payload is encrypted under key {self.key!r}, which encryption.keys of this process does not hold"


class NotOpened(PostmillError):
    """A sealed payload was damaged, or belongs to another job's tenant or type."""

    retryable = False


@dataclass(frozen=True, slots=True)
class KeyRing:
    """Named keys of 32 bytes; `current` is the one that encrypts."""

    current: str
    keys: Mapping[str, bytes] = field(repr=False)

    @classmethod
    def of(cls, written: Iterable[str]) -> KeyRing:
        """A ring from `name:base64` lines, the current key first.

        Raises:
            SettingsError: one is no key, two have one name, or there is none; never shows a key.
        """
        keys: dict[str, bytes] = {}
        for n, text in enumerate(written, 1):
            name, colon, encoded = text.strip().partition(":")
            try:
                key = base64.b64decode(
                    encoded, altchars=b"-_" if set("-_") & set(encoded) else None, validate=True
                )
            except (ValueError, binascii.Error):
                key = b""
            if not colon or not is_key_name(name) or len(key) != KEY_BYTES:
                raise SettingsError(
                    f"encryption.keys: entry {n} is not NAME:KEY with 32 bytes in base64; make one: postmill encryption new-key"
                )
            if name in keys:
                raise SettingsError(f"encryption.keys: two keys are named {name!r}")
            keys[name] = key
        if not keys:
            raise SettingsError(
                "a job type asks for encrypted payloads, and there is no key: set encryption.keys "
                "(POSTMILL_ENCRYPTION__KEYS); make one: postmill encryption new-key"
            )
        return cls(next(iter(keys)), keys)

    def seal(self, payload: bytes, tenant: UUID, job_type: str) -> bytes:
        """`payload` (JSON) as a sealed JSON object."""
        nonce = os.urandom(_NONCE_BYTES)
        data = _aes(self.keys[self.current]).encrypt(nonce, payload, _bound_to(tenant, job_type))
        inner = {"v": 1, "key": self.current, "nonce": _text(nonce), "data": _text(data)}
        return json.dumps({MARK: inner}).encode()

    def open(self, payload: bytes, tenant: UUID, job_type: str) -> bytes:
        """The payload inside a sealed one; one that is not sealed as it is.

        Raises:
            KeyMissing: it is sealed under a key that is not in the ring.
            NotOpened: it was damaged or is another job's.
        """
        inner = sealed_part(payload)
        if inner is None:
            return payload
        try:
            name, nonce, data = (
                str(inner["key"]),
                base64.b64decode(inner["nonce"]),
                base64.b64decode(inner["data"]),
            )
        except (KeyError, TypeError, ValueError):
            raise NotOpened("the encrypted payload is damaged: it lacks key, nonce or data") from None
        key = self.keys.get(name)
        if key is None:
            raise KeyMissing(name)
        from cryptography.exceptions import InvalidTag

        try:
            opened: bytes = _aes(key).decrypt(nonce, data, _bound_to(tenant, job_type))
            return opened
        except (InvalidTag, ValueError):
            raise NotOpened(
                "the encrypted payload does not open: it was damaged, or sealed for another tenant or job type"
            ) from None


def new_key() -> str:
    """32 fresh random bytes in base64, for an entry of `encryption.keys`."""
    return _text(os.urandom(KEY_BYTES))


def is_sealed(payload: bytes) -> bool:
    """Whether JSON text is a sealed payload."""
    return _PREFIX.match(payload) is not None


def sealed_part(payload: bytes) -> Mapping[str, Any] | None:
    """What is under the mark of a sealed payload: `key` names the key; None where it is not sealed."""
    if not is_sealed(payload):
        return None
    inner = json.loads(payload)[MARK]
    return inner if isinstance(inner, Mapping) else {}


def _aes(key: bytes) -> Any:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError:
        raise SettingsError(
            "encrypted payloads need the library cryptography: pip install 'postmill[encryption]'"
        ) from None
    return AESGCM(key)


def _bound_to(tenant: UUID, job_type: str) -> bytes:
    return f"{tenant}:{job_type}".encode()


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
