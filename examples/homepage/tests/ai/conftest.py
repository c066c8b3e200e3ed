"""Fixtures of the tests of AI tagging."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from examples.homepage.statements import FOLDER
from examples.homepage.tests.ai.newsroom import Newsroom
from examples.homepage.tests.labour import ENV
from examples.homepage.tests.site import Site
from examples.upstreams.anthropic.server import KEY, AnthropicServer
from postmill.bind import run
from postmill.domain.settings_budgets import declared_budgets
from postmill.domain.settings_load import load
from postmill.store.budgets import register_budgets
from tests.support.databases import Database

BUDGETS = "postmill.budget, postmill.budget_period, postmill.budget_balance, postmill.budget_line, postmill.budget_alert"


@pytest.fixture
def model() -> Iterator[AnthropicServer]:
    """The model."""
    server = AnthropicServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, name="anthropic")
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def news(site: Site, emptied: Database, model: AnthropicServer, monkeypatch: pytest.MonkeyPatch) -> Newsroom:
    """The application with a model and the budget of homepage.yaml, which a worker's start would make."""
    monkeypatch.setenv("ANTHROPIC_BASE_URL", model.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("AI_DELAY_STEP", "0.01")
    declared = declared_budgets(load(FOLDER / "homepage.yaml", env=ENV).budgets)
    with emptied.connect() as conn:
        conn.execute(f"truncate {BUDGETS}".encode())
        assert run(conn, register_budgets(declared)) == [("ai-tagging", "created")]
    return Newsroom(site, model)
