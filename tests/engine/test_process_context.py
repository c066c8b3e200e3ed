"""What the handler finds in its process: context, place, no secrets."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from postmill.engine.child_frames import BadFrame, pack
from postmill.engine.child_spec import ChildSpec
from tests.engine.process_helpers import in_child, offspring

SECRET = "host=/nowhere password=hunter2"

CONTEXT = {
    "id": "00000000-0000-0000-0000-000000000002",
    "job_type": "report",
    "queue": "q:reports",
    "tenant_id": "00000000-0000-0000-0000-000000000001",
    "attempt": 2,
    "run": 5,
    "max_attempts": 3,
    "created_at": "2026-01-01T00:00:00+00:00",
    "scheduled_for": None,
    "holder": "00000000-0000-0000-0000-000000000003",
    "claim_no": 7,
    "worker_id": "web-1:4711",
    "timeout": 30.0,
}


async def test_the_context_and_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    told: list[tuple[Any, ...]] = []
    result = await in_child(
        "report", conninfo=SECRET, context=CONTEXT, on_progress=lambda *progress: told.append(progress)
    )
    seen = json.loads(result.result or b"{}")
    assert result.status == "succeeded"
    assert (seen["attempt"], seen["run"], seen["queue"], seen["id"]) == (2, 5, "q:reports", CONTEXT["id"])
    assert (seen["deadline"], seen["cancel_requested"]) == (True, False)
    assert (seen["main"], seen["threads"], seen["session"]) == (True, 1, True)
    assert SECRET not in json.dumps([seen["argv"], seen["environ"]])
    assert "hunter2" not in repr(ChildSpec((), "", b"", {}, SECRET))
    assert seen["environ"] == dict(os.environ)  # PYTHONPATH, too, is as it was
    assert seen["path"] == sys.path
    assert len(seen["fds"]) == 5  # 0 1 2, the connection, and the listing's own
    # Progress: a flood is thinned out, the first and the last word arrive.
    assert told[0] == (0, 1000, "step 0")
    assert told[-1] == (999, 1000, "step 999")
    assert len(told) < 20
    (line,) = [said for said in (result.stdout_tail + result.stderr_tail).splitlines() if "a line" in said]
    said = re.sub(r"\x1b\[[0-9;]*m", "", line)
    for field in ("item=7", "step=3", "worker_id=web-1:4711", "job_type=report", "queue=q:reports"):
        assert field in said


async def test_an_error_in_on_progress_ends_the_child() -> None:
    def fail(done: float, total: float | None, text: str | None) -> None:
        raise LookupError(text)

    with pytest.raises(LookupError, match="step 0"):
        await in_child("report", context=CONTEXT, on_progress=fail)
    assert offspring() == []


async def test_modules_by_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file below sys.path keeps its name there; one elsewhere is run under its own, not as `__main__`."""
    text = (
        "from postmill.domain.job_type import job\n"
        "@job\ndef name() -> str:\n    return name.fn.__module__\n"
        "if __name__ == '__main__':\n    raise SystemExit('started as a script')\n"
    )
    apart, package = tmp_path / "apart", tmp_path / "root" / "shop"
    apart.mkdir()
    package.mkdir(parents=True)
    (apart / "my-jobs.py").write_text(text)
    (package / "__init__.py").touch()
    (package / "jobs.py").write_text(text)
    elsewhere = await in_child("name", modules=(str(apart / "my-jobs.py"),))
    monkeypatch.syspath_prepend(str(tmp_path / "root"))
    below = await in_child("name", modules=(str(package / "jobs.py"),))
    monkeypatch.chdir(tmp_path / "root")
    relative = await in_child("name", modules=("shop/jobs.py",))
    assert [elsewhere.result, below.result, relative.result] == [b'"my-jobs"', b'"shop.jobs"', b'"shop.jobs"']


def test_main_is_translated_to_what_another_process_can_import(monkeypatch: pytest.MonkeyPatch) -> None:
    main = sys.modules["__main__"]
    monkeypatch.setattr(main, "__spec__", None)
    monkeypatch.setattr(main, "__file__", "/opt/shop/worker.py", raising=False)
    assert ChildSpec(("__main__", "shop"), "", b"", {}, "").importable() == ["/opt/shop/worker.py", "shop"]


def test_frames_carry_paths_that_are_no_utf8() -> None:
    path = os.fsdecode(b"/\xff")
    frame = pack({"sys_path": [path]}, b"\0\xff")
    assert json.loads(frame[8:-2]) == {"sys_path": [path]}
    assert issubclass(BadFrame, Exception)
