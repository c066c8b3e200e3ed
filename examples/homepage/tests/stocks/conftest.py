"""Alpha Vantage as the worker finds it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from examples.homepage.tests.upstream import standing
from examples.upstreams.alphavantage.server import AlphaVantageServer


@pytest.fixture
def upstream(monkeypatch: pytest.MonkeyPatch) -> Iterator[AlphaVantageServer]:
    """The stand-in."""
    with standing(AlphaVantageServer()) as server:
        monkeypatch.setenv("ALPHAVANTAGE_URL", server.url)
        monkeypatch.setenv("ALPHAVANTAGE_API_KEY", server.key)
        monkeypatch.setenv("ALPHAVANTAGE_SPACING", "0")
        yield server
