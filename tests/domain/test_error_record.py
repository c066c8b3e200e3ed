import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postmill.domain.error_record import MESSAGE_BYTES, STACK_BYTES, ErrorRecord
from postmill.domain.text import unstorable


def raised(error: BaseException) -> BaseException:
    try:
        raise error
    except BaseException as caught:
        return caught


def test_a_record_of_an_error() -> None:
    record = ErrorRecord.of(raised(ValueError("no such thing")))
    assert (record.error_class, record.message, record.status) == ("ValueError", "no such thing", None)
    assert record.stack is not None
    assert record.stack.startswith("Traceback")
    assert record.stack.rstrip().endswith("ValueError: no such thing")


@settings(deadline=None)  # a traceback of a megabyte, on whatever machine
@given(st.text(st.characters() | st.sampled_from("\0\ud800")), st.sampled_from([1, 5000, 200_000]))
def test_any_text_becomes_storable_and_bounded(text: str, times: int) -> None:
    record = ErrorRecord.of(raised(RuntimeError(text * times)))
    assert record.stack is not None
    for stored, limit in ((record.message, MESSAGE_BYTES), (record.stack, STACK_BYTES)):
        assert len(stored.encode()) <= limit
        assert unstorable(stored) is None
    assert json.loads(json.dumps(record.message)) == record.message


def test_a_huge_message_keeps_its_head_and_tail() -> None:
    record = ErrorRecord.of(RuntimeError("BEGIN" + "𝄞" * 10_000_000 + "END"))
    assert record.message.startswith("BEGIN𝄞")
    assert record.message.endswith("𝄞END")


def test_an_error_that_cannot_be_read_is_still_recorded() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise ZeroDivisionError

    record = ErrorRecord.of(raised(Mute()))
    assert record.message == "(the message cannot be read: ZeroDivisionError)"
    assert record.stack


def test_a_deep_recursion_is_recorded() -> None:
    def deeper() -> None:
        deeper()

    with pytest.raises(RecursionError) as caught:
        deeper()
    record = ErrorRecord.of(caught.value)
    assert record.error_class == "RecursionError"
    assert record.stack is not None
    assert len(record.stack.encode()) <= STACK_BYTES
