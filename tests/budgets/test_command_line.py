"""`postmill budget`, `why` of a job that waits for a budget, and settings that declare one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from psycopg import Connection

from postmill.cli.completion import complete_budget  # noqa: F401  the name that the tree offers
from tests.cli.support import Answer, cli


def budget(dsn: str, *words: str) -> Answer:
    return cli("budget", *words, dsn=dsn)


def test_from_the_first_to_the_last(dsn: str, pg: Connection[Any], here: Path) -> None:
    assert budget(dsn, "list").out.startswith("no budgets yet")
    made = budget(dsn, "set", "ai-tagging", "--limit", "5.00", "--reason", "policy P10")
    assert made.code == 0
    assert made.out.startswith("ai-tagging: 0 of 5 USD spent in ")
    assert budget(dsn, "correct", "ai_tagging", "4.75", "--reason", "before Postmill").code == 0
    assert "less than nothing" in budget(dsn, "correct", "ai-tagging", "--reason", "x", "--", "-5").err
    shown = budget(dsn, "show", "AI-TAGGING", "--by", "actor")
    assert "95 % of 5 USD" in shown.out
    assert "QUEUE" in shown.out
    document = budget(dsn, "show", "ai-tagging", "--json").json
    assert (document["standing"]["spent"], document["standing"]["level"]) == ("4.75", "QUEUE")
    assert document["breakdown"] == [
        {"job_type": "", "amount": "4.75", "calls": 0, "tokens_in": 0, "tokens_out": 0}
    ]
    assert "QUEUE" in budget(dsn, "list").out
    (line,) = budget(dsn, "lines", "ai-tagging", "--json").json
    assert (line["kind"], line["reason"]) == ("correct", "before Postmill")
    # Levels, alerts, one period alone.
    changed = budget(
        dsn, "set", "ai-tagging", "--level", "queue=95:0.1:run", "--alert", "95=warning", "--json"
    ).json
    assert changed["levels"]["queue"] == {"from": "95", "factor": "0.1", "action": "run"}
    assert changed["alerts"] == {"95": "warning"}
    period = changed["standing"]["period"]
    assert budget(dsn, "set", "ai-tagging", "--for", period, "--limit", "50").code == 0
    (past,) = budget(dsn, "history", "ai-tagging", "--json").json
    assert (past["period"], past["limit"], past["spent"]) == (period, "50", "4.75")
    assert "75 %, 80 %, 90 %" in budget(dsn, "history", "ai-tagging").out
    rows = pg.execute(
        "select action, actor_id is not null, via from postmill.audit_log order by id"
    ).fetchall()
    assert rows == [("budgets.set", True, "cli"), ("budgets.correct", True, "cli"), ("budgets.set", True, "cli"),
                    ("budgets.limit", True, "cli")]  # fmt: skip
    # Why a job waits.
    budget(dsn, "set", "ai-tagging", "--for", period, "--limit", "5")
    budget(dsn, "set", "ai-tagging", "--level", "queue=90:0:defer")
    pg.execute("""select * from postmill.register_job_types('[{"key": "tag", "budget": "ai_tagging"}]')""")
    row = pg.execute("select postmill.enqueue('tag')").fetchone()
    assert row is not None
    reasons = cli("why", str(row[0]), "--json", dsn=dsn).json["reasons"]
    assert [reason["code"] for reason in reasons] == ["budget", "no_worker_for_queue", "position"]
    assert reasons[0]["text"] == "budget ai-tagging is at QUEUE: a run would end with nothing done"
    # Declared: with the job types, and by every worker.
    (here / "jobs.py").write_text(
        "from postmill import job\n\n@job(budget='ai-tagging')\ndef tag() -> None: ...\n"
    )
    (here / "postmill.toml").write_text(
        '[budgets.translation]\nlimit = "12.50"\nperiod = "day"\ntimezone = "Europe/Berlin"\nunit = "EUR"\n'
        '[budgets.translation.levels.reduce]\nfrom = 60\n[budgets.translation.alerts]\n60 = "info"\n'
    )
    assert cli("jobs", "register", "jobs.py", dsn=dsn).code == 0
    declared = budget(dsn, "show", "translation", "--json").json
    assert (declared["declared"], declared["period"], declared["timezone"]) == (True, "day", "Europe/Berlin")
    assert (declared["levels"]["reduce"]["from"], declared["alerts"]) == ("60", {"60": "info"})
    assert len(declared["standing"]["period"]) == 10


HOSTILE = [
    (["set", "ai", "--limit", "-1"], "limit: -1 is below 0"),
    (["set", "ai", "--limit", "nan"], "limit: nan is no amount; expected a finite number"),
    (["set", "ai", "--limit", "inf"], "limit: inf is no amount"),
    (["set", "ai", "--limit", "1e300"], "limit: 1e300 is more than any budget holds"),
    (["set", "ai", "--limit", "five"], "limit: expected a number such as 0.09, not 'five'"),
    (["set", "a b", "--limit", "5"], "'a b' is no name of a budget"),
    (["set", "new", "--unit", "EUR"], "limit: a new budget needs one"),
    (["set", "ai", "--each", "week"], "period: 'week' is none of: month, day"),
    (["set", "ai", "--timezone", "Europe/Berlín"], "did you mean 'Europe/Berlin'?"),
    (["set", "ai", "--unit", "$"], "unit: '$' is no unit"),
    (["set", "ai", "--level", "redcue=5"], "there is no level 'redcue'; did you mean 'reduce'?"),
    (["set", "ai", "--level", "reduce=95"], "levels: each begins above the one before"),
    (["set", "ai", "--level", "reduce=75:2"], "levels.reduce.factor: 2 is above 1"),
    (["set", "ai", "--level", "reduce=75:1:halt"], "levels.reduce.action: 'halt' is none of: run, defer, stop"),
    (["set", "ai", "--level", "reduce"], "--level is NAME=FROM:FACTOR:ACTION"),
    (["set", "ai", "--alert", "90=loud"], "alerts.90: 'loud' is none of: info, warning, critical"),
    (["set", "ai", "--alert", "nan=info"], "alerts: nan is no amount"),
    (["set", "ai"], "nothing to set"),
    (["set", "ai", "--for", "2025-1", "--limit", "5"], "'2025-1' names no period"),
    (["set", "ai", "--for", "2025-02-30", "--limit", "5"], "'2025-02-30' names no period"),
    (["set", "ai", "--for", "2025-02", "--unit", "EUR"], "--for goes with --limit alone"),
    (["set", "ai", "--for", "2099-02", "--limit", "5"], "'2099-02' is no period of this budget of a month, or too far"),
    (["set", "ai", "--limit", "5", "--tenant", "nobody"], "there is no tenant 'nobody'"),
    (["show", "aii"], "there is no budget 'aii'; did you mean 'ai'?"),
    (["show", "ai", "--by", "weather"], "'weather' is no breakdown; use job_type, tenant, actor"),
    (["history", "ai", "--months", "0"], "months: expected 1 to 120"),
    (["correct", "ai", "nan", "--reason", "x"], "amount: nan is no amount"),
    (["correct", "ai", "1", "--reason", " "], "reason: a correction needs one"),
    (["correct", "ai", "1", "--reason", "x", "--period", "2024-01"], "has no period '2024-01'"),
    (["correct", "ai", "1", "--reason", "x", "--tokens-in", "-5"], "less than nothing"),
]  # fmt: skip


def test_hostile_words(dsn: str, pg: Connection[Any]) -> None:
    """Each is refused by name, and nothing of the budget has changed."""
    budget(dsn, "set", "ai", "--limit", "5")
    before = budget(dsn, "show", "ai", "--json").out
    for words, said in HOSTILE:
        answer = budget(dsn, *words)
        assert said in answer.err, (words, answer.err)
        assert answer.code in (1, 2, 5), words
        assert "Traceback" not in answer.err
    assert budget(dsn, "show", "ai", "--json").out == before
    assert json.loads(before)["standing"]["spent"] == "0"
    assert pg.execute("select count(*) from postmill.audit_log").fetchone() == (1,)
