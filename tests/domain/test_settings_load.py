from pathlib import Path

import pytest

from postmill.domain.errors import SettingsError
from postmill.domain.settings import Settings
from postmill.domain.settings_load import load

TOML = """
database_url = "postgresql://db/app"
notify = false

[queues.HIGH]
slots = 20
poll-interval = "5s"

[queues."q:critical"]
slots = 2

[retry]
jitter = [0.8, 1.2]
"""

YAML = """
database-url: postgresql://db/app
notify: off
queues:
  HIGH: {slots: 20, poll-interval: 5s}
  "q:critical": {slots: 2}
retry:
  jitter: [0.8, 1.2]
"""


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text"), [("postmill.toml", TOML), ("postmill.yaml", YAML), ("postmill.yml", YAML)]
)
def test_the_same_settings_in_every_format(tmp_path: Path, name: str, text: str) -> None:
    write(tmp_path, name, text)
    settings = load(folder=tmp_path, env={})
    assert settings.dsn == "postgresql://db/app"
    assert settings.notify is False
    assert (settings.queues["HIGH"].slots, settings.queues["HIGH"].poll_interval) == (20, 5)
    assert settings.retry.jitter == (0.8, 1.2)


def test_without_a_file_the_environment_is_enough(tmp_path: Path) -> None:
    assert load(folder=tmp_path, env={}) == Settings()
    settings = load(
        folder=tmp_path, env={"POSTMILL_DATABASE_URL": "postgresql://x", "HOME": "/root", "postmill_x": "1"}
    )
    assert settings.dsn == "postgresql://x"


def test_the_environment_wins_over_the_file_and_the_command_line_over_both(tmp_path: Path) -> None:
    write(tmp_path, "postmill.toml", TOML)
    env = {
        "POSTMILL_WORKER__LEASE": "10s",
        "POSTMILL_QUEUES__HIGH__SLOTS": "3",
        "POSTMILL_QUEUES__Q_CRITICAL__SLOTS": "4",
        "POSTMILL_QUEUES__NEW__PRIORITY": "7",
        "POSTMILL_NOTIFY": "on",
        "POSTMILL_RETRY__JITTER": "[1, 1]",
        "POSTMILL_LOG__FORMAT": "json",
        "POSTMILL_METRICS__PORT": "9464",
    }
    settings = load(
        folder=tmp_path, env=env, overrides={"worker": {"lease": 5}, "queues": {"HIGH": {"slots": 1}}}
    )
    assert settings.worker.lease == 5
    assert {name: queue.slots for name, queue in settings.queues.items()} == {
        "HIGH": 1,
        "q:critical": 4,
        "new": 10,
    }
    assert settings.queues["HIGH"].poll_interval == 5
    assert (settings.notify, settings.retry.jitter, settings.log.format, settings.metrics.port) == (
        True,
        (1, 1),
        "json",
        9464,
    )
    assert load(folder=tmp_path, env={"POSTMILL_RETRY__JITTER": "0.5, 1.5"}).retry.jitter == (0.5, 1.5)


def test_an_empty_variable_counts_as_not_set(tmp_path: Path) -> None:
    assert (
        load(folder=tmp_path, env={"POSTMILL_DATABASE_URL": "", "POSTMILL_WORKER__LEASE": " "}) == Settings()
    )


@pytest.mark.parametrize(
    "name",
    [
        "POSTMILL_SERVICE_HOST", "POSTMILL_SERVICE_PORT", "POSTMILL_SERVICE_PORT_HTTP", "POSTMILL_PORT",
        "POSTMILL_PORT_80_TCP", "POSTMILL_PORT_80_TCP_ADDR", "POSTMILL_CONSOLE_SERVICE_HOST",
        "POSTMILL_CONSOLE_PORT_8000_TCP_PROTO", "POSTMILL_TEST_DSN",
    ],
)  # fmt: skip
def test_what_kubernetes_puts_into_every_pod_is_no_setting(tmp_path: Path, name: str) -> None:
    assert load(folder=tmp_path, env={name: "tcp://10.0.0.1:80"}) == Settings()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("POSTMILL_WORKR__LEASE", "1", "'workr' in environment variable POSTMILL_WORKR__LEASE; did you mean 'worker'"),
        ("POSTMILL_WORKER_LEASE", "1", "unknown setting 'worker_lease' in environment variable POSTMILL_WORKER_LEASE"),
        ("POSTMILL_WORKER", "1", "setting 'worker' in environment variable POSTMILL_WORKER holds further keys"),
        ("POSTMILL_QUEUES__HIGH__SLOTS", "x", "'queues.HIGH.slots' in environment variable POSTMILL_QUEUES__"),
        ("POSTMILL_RETRY__JITTER", "[1,", "setting 'retry.jitter' in environment variable POSTMILL_RETRY__JITTER"),
    ],
)  # fmt: skip
def test_faults_name_the_variable(tmp_path: Path, name: str, value: str, message: str) -> None:
    write(tmp_path, "postmill.toml", TOML)
    with pytest.raises(SettingsError) as caught:
        load(folder=tmp_path, env={name: value})
    assert message in str(caught.value)


def test_values_of_the_environment_inside_the_file(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "app.yaml",
        "database_url: postgresql://${USER}:${PASSWORD:}@${HOST:localhost}/app\n"
        "queues: {HIGH: {slots: '${SLOTS:20}', owner: '$${USER} ${USER}', contact: '${CONTACT:}'}}\n",
    )
    settings = load(path, env={"USER": "anna", "SLOTS": "7"})
    assert settings.dsn == "postgresql://anna:@localhost/app"
    queue = settings.queues["HIGH"]
    assert (queue.slots, queue.owner, queue.contact) == (7, "${USER} anna", None)


def test_a_missing_value_of_the_environment_names_variable_key_and_file(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "app.yaml",
        "villagecompute:\n  jobs:\n    escalation:\n      pagerduty-key: ${PAGERDUTY_INTEGRATION_KEY}\n",
    )
    with pytest.raises(SettingsError) as caught:
        load(path, env={})
    message = str(caught.value)
    assert "'villagecompute.jobs.escalation.pagerduty-key'" in message
    assert "needs the environment variable PAGERDUTY_INTEGRATION_KEY" in message
    assert "app.yaml" in message


def test_the_file_is_given_named_by_a_variable_or_found(tmp_path: Path) -> None:
    given = write(tmp_path, "given.toml", "[worker]\nlease = 1")
    named = write(tmp_path, "named.toml", "[worker]\nlease = 2")
    write(tmp_path, "postmill.toml", "[worker]\nlease = 3")
    env = {"POSTMILL_SETTINGS": str(named)}
    leases = [load(given, env=env), load(env=env, folder=tmp_path), load(env={}, folder=tmp_path)]
    assert [settings.worker.lease for settings in leases] == [1, 2, 3]


def test_two_files_side_by_side_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "postmill.toml", "")
    write(tmp_path, "postmill.yaml", "")
    with pytest.raises(SettingsError, match=r"postmill\.toml and postmill\.yaml in .*keep one"):
        load(folder=tmp_path, env={})


def test_a_file_with_nothing_in_it_is_fine(tmp_path: Path) -> None:
    for name in ("a.toml", "b.yaml"):
        assert load(write(tmp_path, name, "# nothing\n"), env={}) == Settings()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.toml", "worker = {lease = ", "a.toml cannot be read"),
        ("a.yaml", "password: hunter2\n  worse: [\n", "a.yaml cannot be read: line 2"),
        ("a.yaml", "- 1\n", "a.yaml holds no settings"),
        ("a.yaml", "!!python/object/apply:os.getcwd []\n", "a.yaml cannot be read: line 1"),
        ("a.json", "{}", "settings are .toml, .yaml or .yml files"),
        ("a.toml", "wroker = 1", "unknown setting 'wroker' in"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load(write(tmp_path, name, text), env={})
    assert message in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="there is no settings file"):
        load(tmp_path / "none.toml", env={})
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError, match="cannot be read"):
        load(tmp_path / "bytes.toml", env={})


def test_the_processes_environment_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POSTMILL_WORKER__LEASE", "12")
    monkeypatch.chdir(tmp_path)
    assert load().worker.lease == 12
