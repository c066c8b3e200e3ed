"""What happens to the festival, act by act; what should not be is noted."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from rich.console import Console

from examples.planner.demo.options import Options
from examples.planner.demo.stage import Stage
from examples.planner.statements import text

FIRST = datetime(2031, 5, 5, 8, tzinfo=UTC)
SKILLS = ("rigging", "sound", "light")


class Unfinished(Exception):
    """A job did not come to its end in time."""


@dataclass(slots=True)
class Facts:
    """What the last page tells. `answers` are milliseconds of writes."""

    answers: list[float] = field(default_factory=list)
    lines: list[tuple[str, str]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


class Story:
    """Plays the acts."""

    def __init__(self, options: Options, running: Stage, console: Console) -> None:
        self._options, self._stage, self._console = options, running, console
        self.facts = Facts()
        self._org = str(running.api.base_url).rstrip("/").rpartition("/")[2]

    def play(self) -> Facts:
        """All of them. Raises Unfinished."""
        project = self._opening()
        self._crew(project)
        self._run_sheet(project)
        self._computations(project)
        self._files(project)
        self._cancellation(project)
        self._lost_access(project)
        self._dead_letter()
        self._maintenance()
        org = {"org": self._org}
        self._until(
            lambda: self._stage.conn.execute(text("open_jobs"), org).fetchone(),
            lambda it: it == (0,),
            "the end of all jobs",
        )
        return self.facts

    def _opening(self) -> str:
        self._act("Olga opens a project; the critical job provisions it")
        begun = time.monotonic()
        made = self._write("POST", "/projects", {"name": "Chapel festival"})
        self._ended(made["jobs"][0])
        seconds = time.monotonic() - begun
        self._told("q:critical", f"ready for planning after {seconds:.2f} s (SLO 10 s)")
        project = f"/projects/{made['id']}"
        for number in range(self._options.missions):
            start = FIRST + timedelta(hours=6 * number)
            body = {
                "title": f"Shift {number + 1}", "skill": SKILLS[number % 3],
                "starts_at": start.isoformat(), "ends_at": (start + timedelta(hours=4)).isoformat(),
            }  # fmt: skip
            self._write("POST", f"{project}/missions", body)
        return project

    def _crew(self, project: str) -> None:
        self._act("Ann is assigned, twice in haste; the SMS provider has a bad minute")
        script = {
            "latency": [0, 0],
            "rules": [{"every": 1, "answers": [{"status": 429, "retry_after": "1"}]}],
        }
        self._stage.providers.put("/", json=script).raise_for_status()
        [[mission, ann]] = self._rows("first_shift_and_ann", project)
        path, body = f"{project}/missions/{mission}/assignment", {"collaborator_id": str(ann)}
        jobs, again = (self._write("PUT", path, body)["jobs"][1:] for _ in range(2))
        self._expect(jobs == again, "the second request has told her again")
        shown = [self._ended(job) for job in jobs]
        self._expect(all("sent" in one["result"] for one in shown), "a channel has sent nothing")
        attempts = sum(one["attempt"] for one in shown)
        self._told(
            "q:notifications",
            f"{len(jobs)} channels, each once; {attempts} attempts, as three were answered 429 at first",
        )

    def _run_sheet(self, project: str) -> None:
        self._act("The run sheet changes; the audit trail gets its words")
        for at in ("08:00", "08:30"):
            items = [{"id": "a", "at": at, "what": "Load-in", "who": "Ann"}]
            made = self._write("PUT", f"{project}/run-sheet", {"title": "Friday", "items": items})
            self._ended(made["jobs"][0])
        events = [one for one in self._get("/audit") if one["explanation"]]
        self._told("audit", events[0]["explanation"][0])

    def _computations(self, project: str) -> None:
        self._act("Conflicts are looked for, and proposals made; Pete accepts one")
        scan = self._ended(self._write("POST", f"{project}/conflict-scans")["job_id"])
        made = self._ended(self._write("POST", f"{project}/proposals")["job_id"])
        before = self._rows("count_assignments", project)
        best = self._get(f"{project}/proposals")[0]
        self._write("POST", f"{project}/proposals/{best['id']}/accept")
        self._expect(before == [(1,)], "a computation has assigned somebody")
        self._told("q:planning", f"{scan['result']['conflicts']} conflicts, {made['result']['proposals']} proposals; "
                                 f"{best['name']} takes {best['title']} ({', '.join(best['reasons'][:2])})")  # fmt: skip

    def _files(self, project: str) -> None:
        self._act("The planning goes out as PDF and CSV, availability comes in")
        for format in ("pdf", "csv"):
            made = self._ended(self._write("POST", f"{project}/exports", {"format": format})["job_id"])[
                "result"
            ]
            answer = self._stage.api.get(f"/artifacts/{made['artifact']}")
            self._expect(sha256(answer.content).hexdigest() == made["sha256"], f"the {format} is another one")
            self._told(
                "q:exports",
                f"planning.{format}, {len(answer.content):,} bytes, sha256 {made['sha256'][:12]}…",
            )
        file = "email,starts_at,ends_at\nann@example.org,2031-05-05T00:00Z,2031-06-05T00:00Z\n"
        answer = self._stage.api.post("/availability-imports", content=file.encode())
        self._told(
            "import", f"{self._ended(answer.json()['job_id'])['result']['new']} window of availability"
        )

    def _cancellation(self, project: str) -> None:
        self._act("Somebody asks for a reminder for tomorrow, and thinks better of it")
        [[mission]] = self._rows("some_assignment", project)
        tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
        body = {"mission_id": str(mission), "scheduled_for": tomorrow}
        for job in self._write("POST", f"{project}/reminders", body)["jobs"]:
            self._stage.api.delete(f"/jobs/{job}").raise_for_status()
            self._ended(job, "canceled")
        self._told("canceled", "before it began; the request for it is in the audit trail")

    def _lost_access(self, project: str) -> None:
        self._act("Pete asks for a scan, and loses his access before it runs")
        scan = {
            "org": str(self._stage.api.base_url).rstrip("/").rpartition("/")[2],
            "project": project.rpartition("/")[2],
        }
        self._stage.conn.execute(text("lose_access"), scan)
        letters = self._letters(1)
        self._expect(letters[0]["error_class"].endswith("Forbidden"), "Pete's job failed for another reason")
        self._told(
            "q:deadletter", f"{letters[0]['job_type']}: {letters[0]['error_message'].partition(' in ')[0]}"
        )

    def _dead_letter(self) -> None:
        self._act("A wrong file becomes a dead letter, and is discarded by the operator")
        content = b"email,starts_at,ends_at\nnobody@example.org,2031-05-05T00:00Z,2031-06-05T00:00Z\n"
        self._stage.api.post("/availability-imports", content=content).raise_for_status()
        letter = next(one for one in self._letters(2) if one["job_type"] == "import.availability")
        self._told("q:deadletter", f"{letter['error_message']}; to do: {', '.join(letter['plan'])}")
        for one in self._letters(2):
            self._stage.api.post(f"/dead-letters/{one['job_id']}/discard").raise_for_status()
        self._expect(self._get("/dead-letters") == [], "there are dead letters left")

    def _maintenance(self) -> None:
        self._act("The night's housekeeping")
        body = {"what": "rebuild-search", "scheduled_for": datetime.now(UTC).isoformat()}
        done = self._ended(self._write("POST", "/maintenance", body)["job_id"])
        self._expect(done["result"]["written"] == self._options.missions, "the index lacks missions")
        self._told("q:maintenance", f"{done['result']['written']} missions in the search index")
        refused = self._stage.api.post("/maintenance", json=body | {"scheduled_for": "2020-01-01T00:00:00Z"})
        self._expect(refused.status_code == 422, "a time in the past was taken")

    def _write(self, method: str, path: str, body: Any = None) -> Any:
        begun = time.monotonic()
        answer = self._stage.api.request(method, path, json=body)
        self.facts.answers.append((time.monotonic() - begun) * 1000)
        answer.raise_for_status()
        return answer.json()

    def _get(self, path: str) -> Any:
        return self._stage.api.get(path).raise_for_status().json()

    def _ended(self, job: str, state: str = "succeeded") -> Any:
        return self._until(
            lambda: self._get(f"/jobs/{job}"), lambda it: it["status"] == state, f"{state} of {job}"
        )

    def _letters(self, most: int) -> Any:
        return self._until(
            lambda: self._get("/dead-letters"), lambda it: len(it) == most, f"{most} dead letters"
        )

    def _until(self, look: Any, fits: Any, what: str) -> Any:
        deadline = time.monotonic() + self._options.patience
        while not fits(found := look()):
            self._stage.check()
            if time.monotonic() > deadline:
                raise Unfinished(f"{what} did not come within {self._options.patience:g} s: {found}")
            time.sleep(0.05)
        return found

    def _rows(self, name: str, project: str) -> list[Any]:
        return self._stage.conn.execute(text(name), {"project": project.rpartition("/")[2]}).fetchall()

    def _act(self, what: str) -> None:
        self._console.print(f"[yellow]▸[/] [bold]{what}[/]", soft_wrap=True)

    def _told(self, subject: str, what: str) -> None:
        self.facts.lines.append((subject, what))
        self._console.print(f"    {what}", highlight=False, soft_wrap=True, markup=False)

    def _expect(self, fine: bool, fault: str) -> None:
        if not fine:
            self.facts.faults.append(fault)
