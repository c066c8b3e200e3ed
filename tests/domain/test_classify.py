import errno
import smtplib
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import aiosmtplib
import pytest

from postmill.domain.classify import Classifier, classify
from postmill.domain.errors import PayloadRefused, Undecodable

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)


class Error(Exception):
    """An exception of a foreign library, with whatever attributes."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__("foreign")
        self.__dict__.update(attributes)


def carriers(status: int) -> list[Error]:
    response = SimpleNamespace(status_code=status, headers={})
    return [Error(status_code=status), Error(status=status), Error(code=status), Error(response=response),
            Error(response=SimpleNamespace(status=status)), Error(http_status=status)]  # fmt: skip


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 599])
def test_transient_statuses_are_retried_wherever_they_are_carried(status: int) -> None:
    for error in carriers(status):
        verdict = classify(error)
        assert verdict.retryable
        assert verdict.status == status


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 409, 410, 418, 422, 451])
def test_other_client_errors_are_not(status: int) -> None:
    for error in carriers(status):
        verdict = classify(error)
        assert not verdict.retryable
        assert verdict.status == status


@pytest.mark.parametrize("value", [True, 200, 302, 39, 399, 600, 700, "404", None, SimpleNamespace()])
def test_what_is_no_error_status_says_nothing(value: object) -> None:
    verdict = classify(Error(status_code=value, code=value))
    assert verdict.status is None
    assert verdict.retryable


@pytest.mark.parametrize(("reply", "again"), [(421, True), (451, True), (500, False), (550, False)])
def test_replies_of_mail_servers_are_no_http_statuses(reply: int, again: bool) -> None:
    for error in (aiosmtplib.SMTPDataError(reply, "no"), smtplib.SMTPDataError(reply, b"no")):
        verdict = classify(error)
        assert (verdict.retryable, verdict.status, verdict.error_code) == (again, None, str(reply))


def test_a_system_exit_is_no_http_status() -> None:
    assert classify(SystemExit(404)).status is None


@pytest.mark.parametrize(
    "error", [ValueError("x"), KeyError(), TimeoutError(), ConnectionRefusedError(), MemoryError(), Error()]
)
def test_unknown_and_transient_errors_are_retried(error: BaseException) -> None:
    assert classify(error).retryable


@pytest.mark.parametrize(
    "error",
    [
        NotImplementedError(),
        Undecodable("t", []),
        PayloadRefused("args", "x"),
        PermissionError(errno.EACCES, ""),
    ],
)
def test_errors_that_no_attempt_can_change_are_not(error: BaseException) -> None:
    assert not classify(error).retryable


def test_errno() -> None:
    assert classify(OSError(errno.ETIMEDOUT, "x")).error_code == "ETIMEDOUT"
    assert classify(OSError(errno.ECONNREFUSED, "x")).retryable
    assert classify(FileNotFoundError(errno.ENOENT, "x")).retryable
    assert not classify(OSError(errno.EROFS, "x")).retryable
    assert classify(Error(errno=99999)).error_code is None


def test_codes_of_drivers_and_providers() -> None:
    assert classify(Error(sqlstate="40001")).error_code == "40001"
    assert classify(Error(orig=Error(sqlstate="23505"))).error_code == "23505"
    assert classify(Error(code="insufficient_quota", status_code=429)).error_code == "insufficient_quota"
    hostile = classify(Error(code="a\0" + "b" * 1000)).error_code or ""
    assert hostile.startswith("a\ufffdbbb")
    assert len(hostile.encode()) <= 128


def test_names() -> None:
    assert classify(TimeoutError()).error_class == "TimeoutError"
    assert classify(Error()).error_class == f"{__name__}.Error"


def test_retry_after_is_read_from_headers_and_attributes() -> None:
    class Headers(dict[str, str]):
        def get(self, key: str, default: Any = None) -> Any:  # a case-insensitive mapping, as clients have
            return super().get(key.lower(), default)

    response = SimpleNamespace(status_code=429, headers=Headers({"retry-after": "12"}))
    assert classify(Error(response=response)).retry_after == 12
    assert classify(Error(headers={"Retry-After": "7"})).retry_after == 7
    assert classify(Error(retry_after=3.5)).retry_after == 3.5
    dated = Error(headers={"Retry-After": "Fri, 27 Nov 2026 12:00:40 GMT"})
    assert classify(dated, now=NOW).retry_after == 40
    assert classify(dated).retry_after is None
    assert classify(Error(headers={"Retry-After": "soon"}), now=NOW).retry_after is None


def test_attributes_that_raise_are_absent() -> None:
    class Trap(Exception):
        def __getattr__(self, name: str) -> object:
            raise RuntimeError(name)

    verdict = classify(Trap())
    assert (verdict.retryable, verdict.status, verdict.error_code, verdict.retry_after) == (
        True,
        None,
        None,
        None,
    )


def test_an_exception_class_can_say_it_itself() -> None:
    assert not classify(Error(retryable=False)).retryable
    assert classify(Error(retryable=True, status_code=404)).retryable
    assert not classify(Error(retryable=lambda: True, status_code=404)).retryable


def test_rules_come_first_and_the_first_that_fits_decides() -> None:
    class Gone(Error): ...

    rules = Classifier().permanent(Gone, 429, range(520, 530), "insufficient_quota").transient(404, Error)
    verdicts = {
        "subclass": Gone(),
        "status": Error(status_code=429),
        "range": Error(status_code=525),
        "code": Error(code="insufficient_quota"),
    }
    assert {
        name: classify(error, classifier=rules).retryable for name, error in verdicts.items()
    } == dict.fromkeys(verdicts, False)
    assert classify(Error(status_code=404), classifier=rules).retryable
    assert not classify(Error(status_code=404)).retryable


def test_rules_by_function_and_by_name() -> None:
    rules = Classifier().permanent(lambda error: "quota" in str(error), "ZeroDivisionError")
    assert not classify(RuntimeError("out of quota"), classifier=rules).retryable
    assert not classify(ZeroDivisionError(), classifier=rules).retryable
    assert classify(RuntimeError(), classifier=rules).retryable


def test_a_rule_that_raises_does_not_fit() -> None:
    rules = Classifier().permanent(lambda error: error.nothing)  # type: ignore[attr-defined]
    assert classify(RuntimeError(), classifier=rules).retryable


def test_a_group_is_retryable_only_if_each_of_its_errors_is() -> None:
    transient = ExceptionGroup(
        "g", [TimeoutError(), ExceptionGroup("h", [Error(status_code=503, retry_after=9)])]
    )
    verdict = classify(transient)
    assert (verdict.retryable, verdict.status, verdict.retry_after) == (True, 503, 9)
    assert verdict.error_class == "ExceptionGroup"
    assert not classify(ExceptionGroup("g", [TimeoutError(), Error(status_code=404)])).retryable


def test_a_group_of_one_is_that_one() -> None:
    assert classify(ExceptionGroup("g", [ExceptionGroup("h", [TimeoutError()])])) == classify(TimeoutError())
