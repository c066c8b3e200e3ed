"""What a command gets is what was written, byte for byte; what it must not get is refused (case 105)."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest

from postmill.engine.command import Command, run_command
from postmill.engine.command_checks import CommandRefused
from tests.engine.process_helpers import Run, both_loops, python, shell

# The child's own view of its arguments: what the kernel has, not what an interpreter made of it.
SHOW = (
    "import json; print(json.dumps(open('/proc/self/cmdline', 'rb').read().decode('latin-1').split(chr(0))))"
)

HOSTILE = (
    "; touch /tmp/pwn",
    "$(touch /tmp/pwn)",
    "`touch /tmp/pwn`",
    "a\nb\n",
    "--output=/etc/x",
    "-",
    "--",
    "",
    "~",
    "*",
    "{a,b}",
    "$HOME",
    "'\"\\ ",
    "../..",
    "\t\r\x01\x1b[31m",
    "žluťoučký \N{PILE OF POO}",
    "not utf-8: \udcff\udcfe",
    "x" * 100_000,
)


@both_loops
def test_arguments_arrive_byte_for_byte(run: Run) -> None:
    command = python(SHOW, *HOSTILE, tail_bytes=1 << 20)
    result = run(run_command(command))
    *argv, end = json.loads(result.stdout_tail)
    assert result.exit_code == 0
    assert end == ""
    assert [argument.encode("latin-1") for argument in argv[5:]] == [
        argument.encode("utf-8", "surrogateescape") for argument in HOSTILE
    ]
    assert not Path("/tmp/pwn").exists()


async def test_the_environment_is_an_allow_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_PRELOAD", "")
    monkeypatch.setenv("SECRET", "s3cret")
    monkeypatch.setenv("TZ", "Europe/Prague")
    monkeypatch.setenv("LANG", "C.UTF-8")
    command = Command(
        ("env", "-0"), {"TENANT": "a b\n$c", "LANG": "cs"}, env_allow=("PATH", "LANG", "TZ", "MISSING")
    )
    result = await run_command(command)
    shown = dict(pair.split("=", 1) for pair in result.stdout_tail.split("\N{REPLACEMENT CHARACTER}") if pair)
    assert shown == {"PATH": os.environ["PATH"], "TZ": "Europe/Prague", "LANG": "cs", "TENANT": "a b\n$c"}


@pytest.mark.parametrize(
    ("argv", "env", "why"),
    [
        (("echo", "a\0b"), {}, "argument 1 holds a NUL"),
        (("echo", "\ud800"), {}, "argument 1 holds a lone surrogate"),
        (("echo", 1), {}, "argument 1 must be text, not int"),
        (("",), {}, "names no program"),
        ((), {}, "names no program"),
        ("echo hi", {}, "not one text"),
        (("true",), {"A": "x\0y"}, "'A' holds a NUL"),
        (("true",), {"A=B": "x"}, "no name of an environment variable"),
        (("true",), {"": "x"}, "no name of an environment variable"),
        (("true",), {"LD_PRELOAD": "/x.so"}, "only env_allow"),
        (("true",), {"BASH_ENV": "/x"}, "only env_allow"),
    ],
)
def test_what_cannot_be_passed_is_refused(argv: tuple[str, ...], env: dict[str, str], why: str) -> None:
    with pytest.raises(CommandRefused, match=why):
        Command(argv, env)


@pytest.mark.parametrize("name", ["timeout", "grace", "memory_limit"])
@pytest.mark.parametrize("value", [-1, float("nan"), float("inf")])
def test_a_limit_that_is_no_number_is_refused(name: str, value: float) -> None:
    with pytest.raises(CommandRefused, match=name):
        Command(("true",), **{name: value})  # type: ignore[arg-type]


@both_loops
def test_a_program_that_cannot_be_started_says_why(run: Run, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("no program")
    with pytest.raises(
        FileNotFoundError, match="no such program in the PATH of the worker: 'no-such-program'"
    ):
        run(run_command(Command(("no-such-program",))))
    with pytest.raises(FileNotFoundError, match="No such file or directory: '/no/such'"):
        run(run_command(Command(("/no/such",))))
    with pytest.raises(PermissionError, match="plain"):
        run(run_command(Command((str(plain),))))
    plain.chmod(0o755)
    with pytest.raises(OSError, match="Exec format"):  # and no shell is asked to try it
        run(run_command(Command((str(plain),))))
    with pytest.raises(OSError, match=r"Argument list too long.*200000 bytes"):
        run(run_command(Command(("true", "x" * 200_000))))
    with pytest.raises(FileNotFoundError):
        run(run_command(Command(("true",), scratch_root=tmp_path / "missing")))


async def test_the_program_is_found_in_the_path_of_the_command(tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\necho found\n")
    tool.chmod(0o755)
    result = await run_command(Command(("tool",), {"PATH": f"/nowhere:{tmp_path}"}))
    assert result.stdout_tail == "found\n"


async def test_it_has_a_session_of_its_own_and_nothing_of_the_workers() -> None:
    """Own session, group and folder; stdin empty; no descriptors, no blocked or ignored signals."""
    there, end = os.pipe()
    os.set_inheritable(end, True)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGUSR1})
    try:
        where = await shell(
            "echo $$; ps -o pgid=,sid= -p $$; "
            # No pipe, which the shell would hold while it is looked at; and not the descriptor that lists them.
            "for fd in /proc/$$/fd/*; do if [ -e $fd ]; then printf '%s ' ${fd##*/}; fi; done; cat; echo; pwd; ls -A"
        )
        signals = await run_command(Command(("grep", "-E", "Sig(Blk|Ign)", "/proc/self/status")))
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM, signal.SIGUSR1})
        os.close(there)
        os.close(end)
    pid, groups, fds, folder = where.stdout_tail.splitlines()
    assert int(pid) == where.pid
    assert groups.split() == [pid, pid]
    assert set(fds.split()) <= {"0", "1", "2", "255"}  # 255 is bash's own
    assert [int(line.split()[1], 16) & 0x7FFFFFFF for line in signals.stdout_tail.splitlines()] == [0, 0]
    assert folder != str(Path.cwd())
    assert not Path(folder).exists()


async def test_a_memory_limit_holds() -> None:
    result = await run_command(python("bytearray(1 << 30)", memory_limit=256 << 20))
    assert result.exit_code == 1
    assert "MemoryError" in result.stderr_tail


async def test_the_pid_is_told_at_the_start() -> None:
    told: list[int] = []
    result = await run_command(Command(("true",)), on_start=told.append)
    assert told == [result.pid]


async def test_an_error_in_on_start_ends_the_command() -> None:
    told: list[int] = []

    def fail(pid: int) -> None:
        told.append(pid)
        raise LookupError

    with pytest.raises(LookupError):
        await asyncio.wait_for(run_command(Command(("sleep", "600")), on_start=fail), 10)
    with pytest.raises(ProcessLookupError):
        os.kill(told[0], 0)
