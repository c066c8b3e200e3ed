"""Whatever a command prints, however much: bounded, storable, and no matter of the worker's memory (case 75)."""

from __future__ import annotations

import asyncio

import psutil
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from postmill.engine.child_guard.tail import Tail
from postmill.engine.command import Command, run_command
from postmill.engine.command_tails import text_of
from tests.engine.process_helpers import Run, both_loops, python, shell

MIB = 1 << 20
R = "\N{REPLACEMENT CHARACTER}"


@both_loops
def test_300_mb_of_output_cost_no_memory(run: Run) -> None:
    """Neither here nor in the guard."""
    guards: list[psutil.Process] = []
    peak = 0

    async def main() -> None:
        nonlocal peak
        flood = "head -c 150M /dev/zero | tr '\\0' x & head -c 150M /dev/zero | tr '\\0' y >&2 & wait; echo; echo end"
        task = asyncio.create_task(
            run_command(
                Command(("bash", "-c", flood)),
                on_start=lambda pid: guards.append(psutil.Process(pid).parents()[0]),
            )
        )
        while not task.done():
            await asyncio.sleep(0.02)
            for guard in guards:
                try:
                    peak = max(peak, guard.memory_info().rss)
                except psutil.NoSuchProcess:
                    continue
        result = await task
        assert (result.stdout_bytes, result.stderr_bytes) == (150 * MIB + 5, 150 * MIB)
        assert result.stdout_tail == "x" * (16384 - 5) + "\nend\n"
        assert result.stderr_tail == "y" * 16384

    before = psutil.Process().memory_info().rss
    run(main())
    assert psutil.Process().memory_info().rss - before < 8 * MIB
    assert 0 < peak < 30 * MIB


async def test_hostile_bytes_become_text_that_can_be_stored() -> None:
    code = (
        "import os; os.write(1, b'\\xff\\xfe' + 'UTF-16'.encode('utf-16-le') + b'|caf\\xe9|\\x1b[31m|'"
        " + '\\u202eRTL'.encode() + b'|' + '\\N{PILE OF POO}'.encode()[:3]); os._exit(4)"
    )
    result = await run_command(python(code))
    assert result.exit_code == 4
    utf16 = "".join(f"{char}{R}" for char in "UTF-16")
    assert result.stdout_tail == f"{R}{R}{utf16}|caf{R}|\x1b[31m|\u202eRTL|{R}"


async def test_characters_are_whole_at_the_edges_of_reads_and_of_the_tail() -> None:
    """A four-byte character over each boundary of 64 KiB, and over the edge of the tail."""
    code = "import os, time\nfor _ in range(3):\n os.write(1, b'x' + '\\N{PILE OF POO}'.encode() * 20000)"
    result = await run_command(python(code, tail_bytes=16384 + 2))
    assert result.stdout_tail == "\N{PILE OF POO}" * 4096
    whole = await run_command(python(code, tail_bytes=MIB))
    assert whole.stdout_tail == ("x" + "\N{PILE OF POO}" * 20000) * 3


async def test_without_a_tail_the_output_is_still_read_and_counted() -> None:
    result = await shell("head -c 1M /dev/zero", tail_bytes=0)
    assert (result.stdout_tail, result.stdout_bytes) == ("", MIB)


async def test_a_program_that_closes_its_outputs_runs_on() -> None:
    result = await shell("exec >&- 2>&-; sleep 0.2; exit 5")
    assert (result.exit_code, result.stdout_tail) == (5, "")
    assert result.duration >= 0.2


def test_every_length_of_tail_of_a_text() -> None:
    text = "a\N{LATIN SMALL LETTER E WITH ACUTE}\N{EURO SIGN}\N{PILE OF POO}b"
    for limit in range(len(text.encode()) + 2):
        tail = Tail(limit)
        for byte in text.encode():
            tail.add(bytes([byte]))
        kept = text_of(tail, limit)
        assert text.endswith(kept)
        assert limit - 3 <= len(kept.encode()) <= limit or kept == text


@given(st.lists(st.binary(max_size=40)), st.integers(0, 60))
@example([b"\x80" * 10], 7)
@example([b"\xf0\x9f\x92"], 3)
@example([b"\0" * 20], 20)
def test_a_tail_is_bounded_and_storable(chunks: list[bytes], limit: int) -> None:
    tail = Tail(limit)
    for chunk in chunks:
        tail.add(chunk)
    text = text_of(tail, limit)
    assert len(text.encode()) <= limit
    assert "\0" not in text
    assert tail.total == sum(map(len, chunks))
    assert len(tail.data) <= limit


@pytest.mark.parametrize("stream", [1, 2])
async def test_one_line_of_a_megabyte(stream: int) -> None:
    result = await run_command(python(f"import os; os.write({stream}, b'z' * (1 << 20))"))
    assert result.exit_code == 0
    assert result.stdout_tail + result.stderr_tail == "z" * 16384
