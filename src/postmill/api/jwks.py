"""The public keys of an OpenID Connect provider (RFC 7517): fetched when needed, again when it rotates them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from time import monotonic
from typing import Any

import httpx
import jwt
import orjson

from postmill.domain.errors import PostmillError

FRESH = 300.0
"""Seconds for which fetched keys are believed: a key that the provider withdrew verifies nothing after that."""

STALE = 3600.0
"""Seconds for which they are still used while the provider does not answer."""

AT_MOST_EVERY = 5.0
"""Seconds between two fetches for a key that is not there: tokens with made-up key ids make no storm."""

_BIGGEST = 1_000_000
_PATIENCE = 5.0


class KeysUnreachable(PostmillError):
    """The provider's keys cannot be had right now."""


class KeySet:
    """Keys by their ids. `url` is where they are; None: where the discovery document of the issuer says."""

    def __init__(self, issuer: str, url: str | None) -> None:
        self._issuer = issuer
        self._url = url
        self._keys: dict[str | None, dict[str, Any]] = {}
        self._made: dict[tuple[str | None, str], jwt.PyJWK] = {}
        self._fetched_at = self._tried_at = float("-inf")
        self._lock = asyncio.Lock()

    async def key(self, kid: str | None, algorithm: str) -> jwt.PyJWK:
        """The key for a token's header.

        Raises:
            KeysUnreachable: the provider does not answer, and what is known is too old.
            jwt.PyJWTError: there is no such key, or it is not one for this algorithm.
        """
        if monotonic() - self._fetched_at > FRESH or kid not in self._keys:
            await self._refresh()
        if kid is None and len(self._keys) == 1:
            kid = next(iter(self._keys))
        entry = self._keys.get(kid)
        if entry is None:
            raise jwt.InvalidKeyError(f"the provider has no key {kid!r}")
        made = self._made.get((kid, algorithm))
        if made is None:
            if not _fits(entry, algorithm):
                raise jwt.InvalidAlgorithmError(f"the key {kid!r} is not one for {algorithm}")
            made = self._made[kid, algorithm] = jwt.PyJWK(entry, algorithm)
        return made

    async def _refresh(self) -> None:
        async with self._lock:
            now = monotonic()
            if now - self._tried_at < AT_MOST_EVERY:
                if self._fetched_at == float("-inf"):
                    raise KeysUnreachable(f"the keys of {self._issuer} could not be fetched")
                return
            self._tried_at = now
            try:
                self._keys = await self._fetch()
                self._made = {}
                self._fetched_at = now
            except (httpx.HTTPError, ValueError, KeyError, TypeError, jwt.PyJWTError) as fault:
                if now - self._fetched_at > STALE:
                    self._fetched_at = float("-inf")
                    raise KeysUnreachable(
                        f"the keys of {self._issuer} could not be fetched: {type(fault).__name__}"
                    ) from fault

    async def _fetch(self) -> dict[str | None, dict[str, Any]]:
        url = self._url
        if url is None:
            known = await _json(f"{self._issuer.rstrip('/')}/.well-known/openid-configuration")
            if known["issuer"] != self._issuer:
                raise ValueError("the discovery document is another issuer's")
            url = str(known["jwks_uri"])
        entries = (await _json(url))["keys"]
        # Symmetric keys have no place here; unknown kinds may come with time.
        return {
            entry.get("kid"): entry
            for entry in entries
            if entry.get("kty") in ("RSA", "EC", "OKP") and entry.get("use", "sig") == "sig"
        }


async def _json(url: str) -> Any:
    async with httpx.AsyncClient(timeout=_PATIENCE) as client, client.stream("GET", url) as answer:
        answer.raise_for_status()
        content = b""
        async for part in answer.aiter_bytes():
            content += part
            if len(content) > _BIGGEST:
                raise ValueError("the answer is too big")
        return orjson.loads(content)


_CURVES = {"P-256": "ES256", "P-384": "ES384", "P-521": "ES512"}


def _fits(entry: Mapping[str, Any], algorithm: str) -> bool:
    """Whether the key's own kind goes with the algorithm that a token claims."""
    if entry.get("alg", algorithm) != algorithm:
        return False
    if entry["kty"] == "EC":
        return _CURVES.get(entry.get("crv", "")) == algorithm
    return algorithm[:2] in ("RS", "PS") if entry["kty"] == "RSA" else algorithm == "EdDSA"
