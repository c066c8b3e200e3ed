import pytest

from tests.cli.support import cli


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(*words, **given):
    answer = cli("settings", "--json", *words, **given)
    assert answer.code == 0, answer.err
    return {entry["key"]: (entry["value"], entry["source"]) for entry in answer.json}


def test_defaults_are_told_as_such():
    assert found()["worker.lease"] == (30.0, "default")
    assert found("--set") == {}
    assert "all settings have their defaults" in cli("settings", "--set").out


def test_each_value_has_its_source(folder):
    (folder / "postmill.toml").write_text(
        'schema = "mine"\n[worker]\nlease = "20s"\ngrace = 5\n[queues.High]\nslots = 3\n'
        '[escalation]\npagerduty_key = "topsecret"\n'
    )
    seen = found(
        "--dsn",
        "postgresql://me:geheim@db.example:5433/shop",
        env={"POSTMILL_WORKER__GRACE": "7", "POSTMILL_QUEUES__HIGH__PRIORITY": "1"},
    )
    assert seen["schema"] == ("mine", "postmill.toml")
    assert seen["worker.lease"] == (20.0, "postmill.toml")
    assert seen["worker.grace"] == (7.0, "POSTMILL_WORKER__GRACE")
    assert seen["queues.High.slots"] == (3, "postmill.toml")
    assert seen["queues.High.priority"] == (1, "POSTMILL_QUEUES__HIGH__PRIORITY")
    assert seen["queues.High.lane"] == ("tenant", "default")
    assert seen["database_url"] == ("shop at db.example:5433", "command line")
    assert seen["escalation.pagerduty_key"] == ("(hidden)", "postmill.toml")


def test_no_secret_is_printed(folder):
    (folder / "postmill.yaml").write_text(
        "database_url: postgresql://me:geheim@db/shop\nescalation: {slack_webhook: https://geheim}\n"
    )
    for words in (("settings",), ("settings", "--json"), ("settings", "--set")):
        answer = cli(*words)
        assert "geheim" not in answer.out + answer.err
        assert "shop at db" in answer.out


def test_the_option_wins_over_the_environment():
    seen = found("--schema", "other", env={"POSTMILL_SCHEMA": "mine"})
    assert seen["schema"] == ("other", "command line")


def test_the_database_of_up_is_named(folder):
    (folder / ".postmill").mkdir()
    (folder / ".postmill" / "postmill.env").write_text(
        "POSTMILL_DATABASE_URL='postgresql://p@/d?host=/run/x'\n"
    )
    assert found("--set") == {"database_url": ("d at /run/x", ".postmill/postmill.env (postmill up)")}


def test_an_unknown_setting_is_refused_by_name(folder):
    (folder / "postmill.toml").write_text("[worker]\nlaese = 1\n")
    answer = cli("settings")
    assert answer.code == 2
    assert "did you mean 'lease'" in answer.err
    assert "docs/reference/settings.md" in answer.err, "and not the command that has just failed"


def test_lengths_are_shown_as_they_are_written():
    rows = [line.split() for line in cli("settings").out.splitlines()]
    shown = {row[0]: row[1] for row in rows if len(row) > 1}
    assert shown["retention.succeeded"] == "30d"
    assert shown["retry.max_delay"] == "5m"
    assert shown["server.session"] == "12h"
    assert found()["retention.succeeded"][0] == 30 * 86400


def test_another_file(folder):
    (folder / "live.toml").write_text("notify = false\n")
    assert found("--config", "live.toml")["notify"] == (False, "live.toml")
    assert found(env={"POSTMILL_SETTINGS": "live.toml"})["notify"] == (False, "live.toml")
    assert cli("settings", "--config", "missing.toml").code == 2
