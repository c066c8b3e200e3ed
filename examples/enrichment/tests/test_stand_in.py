"""The stand-in by its script, through the application's client: each bad answer becomes the right error."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
from pydantic import SecretStr

from examples.enrichment.api import ApiBusy, ApiError, ApiRefused, ApiUnavailable, Enrichment, EnrichmentApi
from examples.enrichment.settings import AppSettings, from_environment
from examples.upstreams.script import ROUGH, SCRIPTS, USUAL, Answer, Rule, Script, load_script
from postmill.domain.classify import classify
from postmill.domain.errors import SettingsError

QUICK = (0.0, 0.0)
TEXT = "A post mill turns its whole body into the wind. It stands on one post, and a trestle holds the post."


@contextmanager
def serving(*answers: Answer, key: str | None = None) -> Iterator[AppSettings]:
    """Settings for a stand-in whose first calls get these answers."""
    from examples.upstreams.enrichment_api import server

    api = server(Script(latency=QUICK, rules=(Rule(every=1, answers=answers),)), key=key)
    thread = threading.Thread(target=api.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield AppSettings(database_url=SecretStr("unused"), api_url=api.url, api_timeout=0.5)
    finally:
        api.shutdown()
        thread.join()
        api.server_close()


async def call(settings: AppSettings, text: str = TEXT) -> Enrichment:
    async with EnrichmentApi(settings) as api:
        return await api.enrich(text)


async def test_a_good_answer_is_an_enrichment() -> None:
    with serving() as settings:
        found = await call(settings)
    assert found.language == "en"
    assert found.key_phrases


@pytest.mark.parametrize(
    ("answer", "kind", "code", "wait"),
    [
        (Answer(status=429, retry_after="7"), ApiBusy, "HTTP_429", 7.0),
        (Answer(status=503, retry_after="2"), ApiBusy, "HTTP_503", 2.0),
        (Answer(status=429), ApiUnavailable, "HTTP_429", None),
        (Answer(status=500), ApiUnavailable, "HTTP_500", None),
        (Answer(status=503), ApiUnavailable, "HTTP_503", None),
        (Answer(status=408), ApiUnavailable, "HTTP_408", None),
        (Answer(body="garbage"), ApiUnavailable, "BAD_ANSWER", None),
        (Answer(body="cut"), ApiUnavailable, "CONNECTION", None),
        (Answer(body="none"), ApiUnavailable, "CONNECTION", None),
        (Answer(delay=2.0), ApiUnavailable, "TIMEOUT", None),
    ],
    ids=str,
)
async def test_bad_answers_are_worth_another_attempt(
    answer: Answer, kind: type[ApiError], code: str, wait: float | None
) -> None:
    with serving(answer) as settings:
        with pytest.raises(kind) as caught:
            await call(settings)
        verdict = classify(caught.value)
        assert verdict.retryable
        assert verdict.error_code == code
        assert verdict.retry_after == wait
        assert (await call(settings)).language == "en", "the second call is no longer in the script"


@pytest.mark.parametrize("answer", [Answer(status=status) for status in (400, 403, 404, 422)], ids=str)
async def test_what_the_service_will_never_take_is_permanent(answer: Answer) -> None:
    with serving(answer) as settings, pytest.raises(ApiRefused) as caught:
        await call(settings)
    assert not classify(caught.value).retryable


async def test_the_service_refuses_empty_and_endless_texts_and_a_wrong_key() -> None:
    with serving() as settings:
        with pytest.raises(ApiRefused, match="422"):
            await call(settings, "  ")
        with pytest.raises(ApiRefused, match="413"):
            await call(settings, "x" * 30_000)
    with serving(key="right") as settings:
        with pytest.raises(ApiRefused, match="401"):
            await call(settings)
        assert await call(settings.model_copy(update={"api_key": SecretStr("right")}))


async def test_nobody_listens() -> None:
    with serving() as settings:
        pass
    with pytest.raises(ApiUnavailable) as caught:
        await call(settings)
    assert caught.value.code == "CONNECTION"


async def test_statistics_count_what_was_answered() -> None:
    with serving(Answer(status=500)) as settings:
        with pytest.raises(ApiUnavailable):
            await call(settings)
        await call(settings)
        async with httpx.AsyncClient(base_url=settings.api_url) as http:
            counted = (await http.get("/statistics")).json()
            assert (await http.get("/health")).json() == {"status": "ok"}
    assert counted == {"requests": 1, "answers": {"500": 1, "200": 1}}


def test_a_script_says_the_same_each_time() -> None:
    script = Script(rules=(Rule(every=3, first=2, answers=(Answer(status=503), Answer(status=429))),))
    statuses = [[script.answer(number, call).status for call in (1, 2, 3)] for number in range(1, 6)]
    assert statuses == [[200, 200, 200], [503, 429, 200], [200, 200, 200], [200, 200, 200], [503, 429, 200]]


def test_no_request_of_the_named_scripts_is_refused_three_times() -> None:
    for script in SCRIPTS.values():
        assert all(script.answer(number, 3) == Answer() for number in range(1, 2_000))


def test_the_usual_script_always_says_how_long_to_wait_and_the_rough_one_does_not() -> None:
    def unnamed(script: Script) -> int:
        answers = [script.answer(number, 1) for number in range(1, 301)]
        return sum(a.retry_after is None and (a.status != 200 or a.body != "good") for a in answers)

    assert unnamed(USUAL) == 0
    assert unnamed(ROUGH) > 5


def test_scripts_come_by_name_or_as_json() -> None:
    assert load_script("rough") is ROUGH
    assert load_script('{"rules": [{"every": 2, "answers": [{"status": 500}]}]}').rules[0].every == 2
    with pytest.raises(ValueError, match="there are: calm, usual, rough"):
        load_script("ruff")


def test_settings_name_what_is_missing_and_hide_what_is_secret() -> None:
    with pytest.raises(SettingsError, match="ENRICHMENT_API_URL"):
        from_environment({"POSTMILL_DATABASE_URL": "postgresql:///x"})
    with pytest.raises(SettingsError, match="ENRICHMENT_DATABASE_URL"):
        from_environment({"ENRICHMENT_API_URL": "http://x"})
    settings = from_environment(
        {
            "POSTMILL_DATABASE_URL": "a",
            "ENRICHMENT_DATABASE_URL": "b",
            "ENRICHMENT_API_URL": "c",
            "ENRICHMENT_API_KEY": "s3",
        }
    )
    assert settings.database_url.get_secret_value() == "b"
    assert "s3" not in repr(settings)
