"""What happens to the book, act by act: a good day, a hasty editor, a revoked key, a spent quota, a business that closes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any

from psycopg.rows import dict_row

from examples.staging.children import ROOT
from examples.upstreams.script import Answer, Rule, Script
from examples.yellowbook.demo.businesses import BUSINESSES
from examples.yellowbook.demo.display import Display
from examples.yellowbook.demo.facts import Facts, Searched
from examples.yellowbook.demo.options import Options
from examples.yellowbook.demo.stage import Stage, good_day
from examples.yellowbook.generate import SUBJECT_DELETED
from examples.yellowbook.statements import text

SEARCHES = ("veternary for hamsters", "fotographer weddings", "bycicle repairing", "dentistry for kids")
SECOND_KEY = "key-of-the-second-quarter"
REPLAY = ("dead", "replay", "--all", "--type", "generate-embedding", "--error-status", "401", "--canary", "1")
REVOKED = 12
"""Businesses that are edited while the key is revoked: more than the ten that ring the alarm."""
SPENT = Script(
    latency=(0.0, 0.05), rules=(Rule(every=1, answers=(Answer(status=429, retry_after="1"),) * 99),)
)
BROKE = 3
PAUSE_HEARD = 0.5
"""Seconds after which the workers have heard of a pause, as far as anybody can say."""
LOOKS_PER_SECOND = 8


class Unfinished(Exception):
    """An act did not come to its end in time."""


class Story:
    """Plays the acts, and notes what came of them."""

    def __init__(self, options: Options, running: Stage, display: Display) -> None:
        self._options = options
        self._stage = running
        self._display = display
        [(moment,)] = running.conn.execute(text("moment")).fetchall()
        self.facts = Facts(moment)

    def play(self) -> Facts:
        """All acts. Raises Unfinished."""
        self._new_book()
        entries = self._good_day()
        self._searches()
        self._hasty_editor(entries[0])
        self._revoked_key(entries[1 : 1 + REVOKED])
        self._spent_quota()
        self._closed_business()
        return self.facts

    def _new_book(self) -> None:
        """Whatever an earlier run has left, it has no part in this one."""
        with self._stage.conn.transaction():
            self._stage.conn.execute("truncate yellow_book_entry")
            self._stage.conn.execute(text("open_queue"))
        self._until_idle()

    def _good_day(self) -> list[dict[str, Any]]:
        some = BUSINESSES[: self._options.businesses]
        self._display.act(f"{len(some)} businesses want to be found")
        entries = [self._timed("POST", "/api/yellow-books", business) for business in some]
        slowest = max(self.facts.answers)
        self._display.note(f"each was listed within {slowest:.0f} ms; the embeddings follow")
        self._until_idle()
        now = self._progress()
        self.facts.expect(now["embedded"] == now["entries"], "not every business was embedded")
        return entries

    def _searches(self) -> None:
        self._display.act("Somebody searches, and cannot spell")
        for words in SEARCHES:
            by_words, by_meaning = self._search(words, "keyword"), self._search(words, "semantic")
            names = [[one["name"] for one in found["results"]] for found in (by_words, by_meaning)]
            self.facts.searched.append(Searched(words, *names))
            found = names[0][0] if names[0] else "nothing"
            self._display.note(f"“{words}”: by its words {found}, by its meaning {names[1][0]}")

    def _hasty_editor(self, entry: dict[str, Any]) -> None:
        self._display.act(f"The owner of {entry['name']} edits it five times in a second")
        before = self._texts()
        self._hold(True)
        for number in range(1, 6):
            description = f"{entry['description']}, {number} kinds of olive bread"
            self._change(entry, description=description)
            self._change(entry, description=description)
        self._hold(False)
        self._until_idle()
        self.facts.edits, self.facts.calls_for_edits = 10, self._texts() - before
        calls = self.facts.calls_for_edits
        self._display.note(f"10 changes, {calls} call{'s' * (calls != 1)} of the service: the last text won")
        self.facts.expect(0 < calls < 5, "superseded jobs called the service")

    def _revoked_key(self, entries: list[dict[str, Any]]) -> None:
        self._display.act(f"The API key is revoked while {len(entries)} owners edit their entries")
        self._stage.revoke(SECOND_KEY)
        for entry in entries:
            self._change(entry, description=f"{entry['description']}; open on Sundays")
        self._until_idle()
        self.facts.dead = int(self._progress()["dead"])
        down = self._search(f"{entries[0]['name']} Sundays", "semantic")
        self.facts.fallback = down["fallback"]
        found = [one["name"] for one in down["results"]]
        self.facts.expect(entries[0]["name"] in found, "the fallback did not find an entry")
        self.facts.statistics += self._statistics()
        self._display.note(f"{self.facts.dead} dead letters; search goes on by words: {', '.join(found[:2])}")
        self._stage.rotate(SECOND_KEY)
        self._display.note(f"the new key goes into its file: postmill {' '.join(REPLAY)}")
        self._replay()
        self._until_idle()
        self.facts.expect(self._progress()["dead"] == 0, "a replay did not succeed")

    def _spent_quota(self) -> None:
        self._display.act("The quota is spent")
        self._stage.play(SPENT)
        some = [
            self._timed("POST", "/api/yellow-books", business | {"name": f"{business['name']}, branch"})
            for business in BUSINESSES[:BROKE]
        ]
        self._until_idle(hurry=True)
        self.facts.statistics += self._statistics()
        self._display.note(f"{BROKE} businesses were tried five times each, made due by hand, and given up")
        self._stage.play(good_day(self._options.latency))
        self._display.note("an administrator presses the button for each")
        for entry in some:
            self._stage.book.post(f"/api/yellow-books/{entry['id']}/regenerate-embedding").raise_for_status()
        self._until_idle()
        self.facts.expect(self._progress()["dead"] == 0, "the button did not help")

    def _closed_business(self) -> None:
        self._display.act("A business closes before its embedding is made")
        self._hold(True)
        entry = self._timed("POST", "/api/yellow-books", BUSINESSES[-1] | {"name": "Here Today"})
        self._stage.book.delete(f"/api/yellow-books/{entry['id']}").raise_for_status()
        self._hold(False)
        self._until_idle()
        letters = self._get("/api/admin/dlq", limit=500)
        self.facts.kept = [one for one in letters if one["payload"]["businessId"] == entry["id"]]
        reasons = [letter["reason"] for letter in self.facts.kept]
        self._display.note(f"its dead letter is kept for the audit: {', '.join(reasons)}")
        self.facts.expect(reasons == [SUBJECT_DELETED], "the closed business left no letter")

    def _replay(self) -> None:
        """All letters of the revoked key: one ahead, and the rest when it has succeeded."""
        env = {**os.environ, "POSTMILL_DATABASE_URL": self._stage.dsn}
        command = [sys.executable, "-m", "postmill", *REPLAY, "--yes", "--json"]
        done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
        if done.returncode != 0:
            raise Unfinished(f"postmill dead replay ended with {done.returncode}: {done.stderr.strip()}")
        self.facts.replayed = int(json.loads(done.stdout)["done"])

    def _hold(self, closed: bool) -> None:
        """While the queue is paused nothing is taken from it; who edits does not notice."""
        self._stage.conn.execute(text("hold_queue" if closed else "open_queue"))
        if closed:
            time.sleep(PAUSE_HEARD)

    def _change(self, entry: dict[str, Any], **fields: Any) -> None:
        self._timed("PATCH", f"/api/yellow-books/{entry['id']}", fields)

    def _timed(self, method: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        begun = time.monotonic()
        answer = self._stage.book.request(method, path, json=body)
        self.facts.answers.append((time.monotonic() - begun) * 1000)
        answer.raise_for_status()
        made: dict[str, Any] = answer.json()
        return made

    def _search(self, words: str, mode: str) -> dict[str, Any]:
        found: dict[str, Any] = self._get("/api/yellow-books/search", q=words, mode=mode, limit=3)
        return found

    def _get(self, path: str, **params: Any) -> Any:
        answer = self._stage.book.get(path, params=params)
        answer.raise_for_status()
        return answer.json()

    def _statistics(self) -> list[dict[str, Any]]:
        """Of the letters that somebody can do something about."""
        found = self._get("/api/admin/dlq/statistics")
        return [one for one in found if one["reason"] != SUBJECT_DELETED]

    def _texts(self) -> int:
        """How many texts the service has embedded."""
        return int(self._stage.service.get("/statistics").json()["texts"])

    def _progress(self) -> dict[str, Any]:
        with self._stage.conn.cursor(row_factory=dict_row) as cursor:
            found = cursor.execute(text("progress")).fetchone()
        assert found is not None
        return found

    def _until_idle(self, *, hurry: bool = False) -> None:
        deadline = time.monotonic() + self._options.patience
        while (now := self._progress())["open"]:
            self._stage.check()
            self._display.show(now)
            if hurry:
                self._stage.conn.execute(text("hurry"))
            if time.monotonic() > deadline:
                raise Unfinished(f"{now['open']} jobs were still open after {self._options.patience:g} s")
            time.sleep(1 / LOOKS_PER_SECOND)
        self._display.show(now)
