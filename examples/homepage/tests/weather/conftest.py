"""The weather services as the worker finds them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from examples.homepage.tests.upstream import standing
from examples.upstreams.nws.server import WeatherServer


@pytest.fixture
def upstream(monkeypatch: pytest.MonkeyPatch) -> Iterator[WeatherServer]:
    """The stand-in, for both."""
    with standing(WeatherServer()) as server:
        monkeypatch.setenv("NWS_URL", server.url)
        monkeypatch.setenv("OPEN_METEO_URL", server.url)
        yield server
