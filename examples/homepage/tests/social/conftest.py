"""A social network as the worker finds it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from cryptography.fernet import Fernet

from examples.homepage.tests.upstream import standing
from examples.upstreams.social.server import CLIENT, SocialServer


@pytest.fixture
def upstream(monkeypatch: pytest.MonkeyPatch) -> Iterator[SocialServer]:
    """The stand-in."""
    with standing(SocialServer()) as server:
        monkeypatch.setenv("SOCIAL_URL", server.url)
        monkeypatch.setenv("SOCIAL_CLIENT_ID", CLIENT[0])
        monkeypatch.setenv("SOCIAL_CLIENT_SECRET", CLIENT[1])
        monkeypatch.setenv("SOCIAL_TOKEN_KEYS", Fernet.generate_key().decode())
        yield server
        server.open.set()
