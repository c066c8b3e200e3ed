from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from postmill.telemetry.log_bridges import StandardHandler, structlog_options
from postmill.telemetry.log_writer import LineWriter


@pytest.fixture
def stream() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def logger(stream: io.StringIO) -> Iterator[logging.Logger]:
    logger = logging.getLogger("tests.bridges")
    handler = StandardHandler(LineWriter(stream, "json"))
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    yield logger
    logger.removeHandler(handler)


@pytest.fixture
def bound(stream: io.StringIO) -> Any:
    """As `ctx.log` is made, without configuring the process."""
    options = structlog_options(LineWriter(stream, "json"))
    options.pop("cache_logger_on_first_use")
    made = structlog.wrap_logger(None, **options)
    return made.bind(job_id="1", job_type="enrich", tenant_id="t", attempt=2)


def line(stream: io.StringIO) -> dict[str, Any]:
    (text,) = stream.getvalue().splitlines()
    found: dict[str, Any] = json.loads(text)
    return found


def test_records_of_the_standard_library(stream: io.StringIO, logger: logging.Logger) -> None:
    logger.warning("page %d of %s", 3, "feed", extra={"item_id": "i", "token": "s3cr3t"})
    found = line(stream)
    assert (found["level"], found["event"], found["logger"]) == ("warning", "page 3 of feed", "tests.bridges")
    assert (found["item_id"], found["token"]) == ("i", "[redacted]")


@pytest.mark.parametrize(
    ("number", "name"),
    [(5, "debug"), (10, "debug"), (20, "info"), (25, "info"), (40, "error"), (50, "error")],
)
def test_levels(stream: io.StringIO, logger: logging.Logger, number: int, name: str) -> None:
    logger.setLevel(1)
    logger.log(number, "x")
    assert line(stream)["level"] == name


def test_exceptions_are_shown_without_secrets(stream: io.StringIO, logger: logging.Logger) -> None:
    try:
        raise ValueError("password=s3cr3t")
    except ValueError:
        logger.exception("failed for %s", "postgres://a:s3cr3t@b")
    found = line(stream)
    assert "ValueError" in found["exception"]
    assert "s3cr3t" not in json.dumps(found)


def test_a_record_that_cannot_be_formatted_hurts_nobody(
    stream: io.StringIO, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging, "raiseExceptions", True)
    handler = StandardHandler(LineWriter(stream, "json"))
    handler.handle(logging.makeLogRecord({"msg": "%d", "args": ("not a number",)}))
    assert stream.getvalue() == ""
    assert "Logging error" in capsys.readouterr().err


def test_a_handlers_own_lines(stream: io.StringIO, bound: Any) -> None:
    bound.info("fetched", pages=3, api_key="s3cr3t", level="debug", timestamp=0)
    found = line(stream)
    assert found["timestamp"] != 0
    assert (found["level"], found["event"], found["pages"], found["api_key"]) == (
        "info",
        "fetched",
        3,
        "[redacted]",
    )
    assert (found["definition_key"], found["org_id"], found["attempt_no"]) == ("enrich", "t", 2)


def test_a_handlers_exception(stream: io.StringIO, bound: Any) -> None:
    try:
        raise KeyError("gone")
    except KeyError:
        bound.exception("no such page")
    found = line(stream)
    assert found["level"] == "error"
    assert "KeyError: 'gone'" in found["exception"]


def test_lines_below_the_level_are_not_written(stream: io.StringIO, bound: Any) -> None:
    bound.debug("detail")
    assert stream.getvalue() == ""
