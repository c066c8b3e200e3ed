"""`postmill top`: one look, as text and as JSON, and the live page on a terminal."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import struct
import termios

import pytest

from postmill.cli.commands import top as command
from tests.cli.support import cli
from tests.support.eventually import eventually
from tests.support.spawner import ROOT, spawner

ROLLUPS = """
insert into postmill.rollup_part (minute, tenant_id, queue, job_type, outcome, n, total_hist)
select postmill.minute_of(postmill.now()) - i * interval '1 minute', t.id, 'default', 'greet', o.outcome, o.n,
       case when o.outcome = 'succeeded' then postmill.histogram_sum(postmill.histogram(2.0)) end
  from postmill.tenant t, generate_series(1, 4) i, (values ('succeeded', 60), ('retried', 6), ('enqueued', 99)) o(outcome, n)
 group by 1, 2, 3, 4, 5, 6"""
GROUP = """
insert into postmill.error_group (id, job_type, error_class, message, frame, first_seen_at, last_seen_at, count)
values ('00112233445566aa', 'greet', 'shop.Timeout', 'no answer from %s' , 'shop.py:12', postmill.now() - interval '2 hours',
        postmill.now() - interval '3 seconds', 1204)"""


@pytest.fixture
def busy(stage, pg, five):
    """Something of everything."""
    pg.execute("update postmill.worker set slots = '{\"default\": 10}'")
    pg.execute("select postmill.pause_queue('low', 'provider is down')")
    pg.execute(ROLLUPS)
    pg.execute(GROUP)
    pg.execute(
        "select postmill.raise_incident('sla_breach', 'queue:default', 'critical', 'default is late', '{}')"
    )
    return five


def test_one_look(dsn, busy, here):
    answer = cli("top", "--once", dsn=dsn, env={"COLUMNS": "80"})
    assert answer.code == 0, answer.err
    assert max(map(len, answer.out.splitlines())) <= 200
    words = re.sub(r" +", " ", answer.out)
    assert re.search(
        "1 waiting, 1 running on 1 worker; (4[89]|5.|60) done a minute, [56] failed attempts", words
    )
    assert re.search(r"default 0 – 1 1 (4\d|5\d|60) [56] 2\.\d s open", words)
    assert re.search(r"low 1 .* paused: provider is down", words)
    assert re.search(r"s critical default is late", words)
    assert re.search(rf"{str(busy['running'])[:18]} greet default .* 1/5 host:1:boot", words)
    assert " s ago 2 h 1,204 0 greet Timeout: no answer from %s" in words
    document = cli("top", "--json", "--sort", "queued", dsn=dsn).json
    assert [queue["name"] for queue in document["queues"]] == ["low", "default"]
    assert document["incidents"][0]["title"] == "default is late"
    assert document["failures"][0]["group"] == "00112233445566aa"
    assert document["running"][0]["id"] == str(busy["running"])
    assert document["workers"][0]["slots"] == {"default": 10}
    refused = cli("top", "--sort", "quued", dsn=dsn)
    assert (refused.code, "did you mean queued?" in refused.err) == (2, True)


def test_the_live_page_on_a_terminal_of_80_columns(dsn, busy, tmp_path):
    """Keys: another order, a pause, the end. Nothing is wider or higher than the terminal."""
    own, far = pty.openpty()
    fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    env = {
        "PATH": os.environ["PATH"],
        "POSTMILL_DATABASE_URL": dsn,
        "PYTHONPATH": str(ROOT / "src"),
        "TERM": "xterm",
    }
    seen = b""
    process = spawner().fork(["postmill", "top", "--every", "1h"], tmp_path, env, (far, far, far))
    try:

        def shows(pattern: str) -> bool:
            nonlocal seen
            os.set_blocking(own, False)
            with contextlib.suppress(BlockingIOError):
                seen += os.read(own, 100_000)
            return re.search(pattern, seen.decode(errors="replace"), re.DOTALL) is not None

        eventually(lambda: shows("queues, by queue.*failures"), 30, "the first page")
        page = (
            re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", seen.decode(errors="replace"))
            .replace("\r", "")
            .split("\n")[:-1]
        )
        assert len(page) <= 25
        assert max(map(len, page)) <= 80
        os.write(own, b"s")
        eventually(lambda: shows("queues, by queued"), 30, "another order")
        os.write(own, b"p")
        eventually(lambda: shows(r"\(paused\)"), 30, "a pause")
        os.write(own, b" q")
        assert process.wait(30) == 0
    finally:
        process.kill()
        os.close(own)
        os.close(far)


def test_keys_are_told_in_the_help():
    assert "until q is pressed" in re.sub(r"\s+", " ", cli("top", "--help").out)
    assert command.KEYS.startswith("q quit")
