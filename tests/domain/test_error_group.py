"""What makes two errors one, and what keeps them apart."""

from __future__ import annotations

import json
import time

import pytest

from postmill.domain.error_group import group_of, normalized
from postmill.domain.error_record import ErrorRecord
from postmill.domain.own_frame import is_own


@pytest.mark.parametrize(
    ("message", "same"),
    [
        ("row 7 of 12,000.5 is bad", "row * of * is bad"),
        ("key 'a b' and \"c\" and `d`", "key * and * and *"),
        ("job 0198f3a2-7c11-7abc-8def-0123456789ab at 0xDEADbeef", "job * at *"),
        ("digest 9f86d081884c7d65 of beefcake", "digest * of beefcake"),
        ("GET https://api.example.org/v1/x?y=1 said 503", "GET * said *"),
        ("no /var/lib/shop/a.txt nor C:\\x\\y nor ./b/c here", "no * nor * nor * here"),
        ("ada@example.org bounced", "* bounced"),
        ("at 2031-05-17T09:30:00", "at *T*"),
        ("don't stop, it's fine", "don't stop, it's fine"),
        ("  two\n lines\t", "two lines"),
    ],
)
def test_what_differs_from_job_to_job_is_left_out(message: str, same: str) -> None:
    assert normalized(message) == same


def test_a_message_is_bounded_whatever_it_holds() -> None:
    began = time.process_time()
    for evil in (
        "'" * 100_000,
        "a/" * 100_000,
        "0" * 100_000,
        "x@" * 50_000,
        "'a" * 50_000,
        "://" * 50_000,
        "a-b." * 50_000,
    ):
        assert len(normalized(evil)) <= 300
    assert time.process_time() - began < 2


def test_type_class_message_and_frame_tell_groups_apart() -> None:
    def of(job_type: str, name: str, message: str, frame: str) -> str:
        return group_of(job_type, ErrorRecord(name, message=message, frame=frame)).id

    one = of("mail", "OSError", "no 5", "shop:send")
    assert one == of("mail", "OSError", "no 77", "shop:send")
    others = [("post", "OSError", "no 5", "shop:send"), ("mail", "EOFError", "no 5", "shop:send"),
              ("mail", "OSError", "but 5", "shop:send"), ("mail", "OSError", "no 5", "shop:receive")]  # fmt: skip
    assert len({one, *(of(*other) for other in others)}) == 5
    assert len(one) == 16


def test_the_frame_is_the_users_own() -> None:
    def mine() -> None:
        json.loads("{")

    with pytest.raises(json.JSONDecodeError) as caught:
        mine()
    assert ErrorRecord.of(caught.value).frame == f"{__name__}:{mine.__qualname__}"
    assert not is_own("/x/lib/python3.11/site-packages/httpx/a.py")
    assert not is_own("<frozen importlib._bootstrap>")
    assert is_own("jobs.py")
