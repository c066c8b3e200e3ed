from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from postmill.domain.errors import SettingsError
from postmill.domain.retry import DEFAULT, Exponential
from postmill.domain.settings import QueueSettings, Settings
from postmill.domain.settings_keys import keys
from postmill.domain.settings_tree import Layer, build


def of(*trees: dict[str, Any], loose: bool = False) -> Settings:
    return build([Layer(f"file{n}", tree, loose and n > 1) for n, tree in enumerate(trees, 1)])


def test_the_defaults() -> None:
    settings = of()
    assert settings == Settings()
    assert (settings.schema_name, settings.notify, settings.dsn, settings.listen_dsn) == (
        "postmill",
        True,
        None,
        None,
    )
    assert (settings.worker.lease, settings.worker.grace, settings.worker.processes) == (30, 30, 1)
    assert settings.retry.policy == DEFAULT
    assert settings.queue("any") == QueueSettings()
    assert settings.retention.dead_letter == 90 * 86400
    assert settings.retention.archive_after == 30 * 86400


def test_one_key_in_many_spellings() -> None:
    for key in ("poll_interval", "poll-interval", "Poll-Interval", "POLL_INTERVAL"):
        assert of({"queues": {"HIGH": {key: "5s"}}}).queues["HIGH"].poll_interval == 5
    assert of({"worker.lease": 20}).worker.lease == of({"worker": {"lease": "20s"}}).worker.lease == 20


def test_names_of_queues_keep_their_case_and_are_found_without_it() -> None:
    settings = of({"queues": {"HIGH": {"slots": 20}, "q:critical": {"slots": 1}}})
    assert settings.queue("high").slots == settings.queue("HIGH").slots == 20
    assert settings.queue("Q:CRITICAL").slots == 1
    assert list(settings.queues) == ["HIGH", "q:critical"]


def test_where_two_queues_differ_in_case_only_the_exact_one_is_found() -> None:
    settings = of({"queues": {"High": {"slots": 1}, "high": {"slots": 2}}})
    assert [settings.queue(name).slots for name in ("High", "high", "HIGH")] == [1, 2, 10]


def test_later_layers_win_key_by_key() -> None:
    settings = of(
        {"queues": {"HIGH": {"slots": 20, "owner": "ops"}}, "worker": {"lease": 10}},
        {"queues": {"high": {"slots": 5}}, "worker": {"grace": 7}},
    )
    assert (settings.queues["HIGH"].slots, settings.queues["HIGH"].owner) == (5, "ops")
    assert list(settings.queues) == ["HIGH"]
    assert (settings.worker.lease, settings.worker.grace) == (10, 7)


def test_a_section_left_empty_has_its_defaults() -> None:
    assert of({"worker": None, "queues": {"HIGH": None}}).queues["HIGH"] == QueueSettings()


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"wroker": {}}, "unknown setting 'wroker' in file1; did you mean 'worker'? known keys of the top level: "),
        ({"worker": {"leese": 1}}, "unknown setting 'worker.leese' in file1; did you mean 'lease'? known keys of 'w"),
        ({"queues": {"HIGH": {"slot": 1}}}, "unknown setting 'queues.HIGH.slot' in file1; did you mean 'slots'?"),
        ({"worker": {"poll-interval": 1, "lease": 1}}, "unknown setting 'worker.poll-interval' in file1"),
        ({"worker": 5}, "setting 'worker' in file1 holds further keys, and is no value itself"),
        ({"queues": {"HIGH": 20}}, "setting 'queues.HIGH' in file1 holds further keys"),
        ({"queues": {"HIGH": {"poll_interval": 1, "poll-interval": 2}}}, ".poll-interval' in file1 is given twice"),
        ({"worker": {"lease": 0}}, "setting 'worker.lease' in file1: a duration must be more than 0"),
        ({"worker": {"lease": "soon"}}, "setting 'worker.lease' in file1: 'soon' is not a duration"),
        ({"worker": {"processes": 0}}, "setting 'worker.processes' in file1: Input should be greater than"),
        ({"queues": {"HIGH": {"lane": "customer"}}}, "setting 'queues.HIGH.lane' in file1: lane 'customer' is none of"),
        ({"queues": {"a b": {}}}, "setting 'queues' in file1: queue name 'a b' holds ' '"),
        ({"schema": ""}, "setting 'schema' in file1: String should have at least 1"),
        ({"retry": {"jitter": [2, 1]}}, "setting 'retry' in file1: jitter is a pair (low, high)"),
        ({"log": {"level": "loud"}}, "setting 'log.level' in file1: Input should be 'debug', 'info'"),
        ({"budgets": {"ai": {}}}, "setting 'budgets.ai' in file1: needs either limit or monthly_limit"),
        ({"metrics": {"port": 70000}}, "setting 'metrics.port' in file1: Input should be less than"),
    ],
)  # fmt: skip
def test_faults_name_key_source_and_what_was_meant(tree: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        of(tree)
    assert message in str(caught.value)


def test_a_fault_names_the_layer_that_it_came_from() -> None:
    with pytest.raises(SettingsError, match=r"setting 'worker\.lease' in file2"):
        of({"worker": {"lease": 10}}, {"worker": {"lease": -1}})
    with pytest.raises(SettingsError, match=r"setting 'worker\.lease' in file1"):
        of({"worker": {"lease": -1}}, {"worker": {"grace": 10}})


def test_secrets_are_never_shown() -> None:
    tree = {
        "database_url": "postgresql://app:hunter2@db/app",
        "listen-url": "postgresql://app:hunter2@direct/app",
        "escalation": {"pagerduty_key": "hunter2", "slack_webhook": "https://hooks/hunter2"},
    }
    settings = of(tree)
    assert "hunter2" not in f"{settings!r} {settings} {settings.model_dump()}"
    assert settings.dsn == tree["database_url"]
    assert settings.listen_dsn == tree["listen-url"]
    with pytest.raises(SettingsError) as caught:
        of({**tree, "database_url": ["hunter2"], "worker": {"processes": "hunter2"}})
    assert "hunter2" not in str(caught.value)


def test_settings_are_frozen() -> None:
    with pytest.raises(ValidationError):
        Settings().worker.lease = 5


def test_every_key_is_described_with_a_default_that_is_its_own() -> None:
    found = {key.path: key for key in keys(Settings)}
    assert all(key.description.endswith(".") for key in found.values())
    assert {path for path, key in found.items() if key.secret} == {
        "database_url", "listen_url", "escalation.pagerduty_key", "escalation.slack_webhook", "escalation.smtp_url",
        "escalation.channels.<NAME>.url", "escalation.channels.<NAME>.key",
        "encryption.keys", "artifacts.url", "artifacts.options", "api.key",
        "archive.url", "archive.options", "cells.<NAME>.database_url", "cells.<NAME>.listen_url",
    }  # fmt: skip
    assert found["queues.<NAME>.slots"].default == 10
    assert found["schema"].default == "postmill"
    assert {"worker.lease", "retry.base_delay", "metrics.port", "log.level", "partition_width"} < set(found)


def test_the_seeds_own_tree_has_a_place_for_every_key() -> None:
    seed = {
        "base-delay": 30,
        "max-attempts": 5,
        "workers": {"high": 20, "default": 10, "screenshot": 3, "low": 5, "bulk": 8},
        "poll-interval": {"high": 5, "default": 10, "screenshot": 10, "low": 30, "bulk": 60},
        "screenshot-concurrency": 2,
        "ai-tagging": {"monthly-budget": 500.00},
        "escalation": {"pagerduty-key": "k", "slack-webhook": "w", "ops-email": "ops@villagecompute.com"},
    }
    settings = of({"villagecompute": {"jobs": seed}})
    assert (
        settings
        == of({"jobs": seed})
        == of({f"villagecompute.jobs.{key}": value for key, value in seed.items()})
    )
    assert settings.retry.policy == Exponential(30, 2, None, (0.75, 1.25))
    assert settings.retry.max_attempts == 5
    assert {name: (queue.slots, queue.poll_interval) for name, queue in settings.queues.items()} == {
        "high": (20, 5), "default": (10, 10), "screenshot": (3, 10), "low": (5, 30), "bulk": (8, 60)
    }  # fmt: skip
    assert settings.queue("SCREENSHOT").slots == 3
    assert settings.job_type("SCREENSHOT_CAPTURE").worker_limit == 2
    assert settings.budgets["ai-tagging"].monthly_limit == Decimal(500)
    assert settings.escalation.ops_email == "ops@villagecompute.com"
    assert settings.escalation.pagerduty_key is not None


def test_the_seeds_curve_has_no_cap_unless_one_is_set() -> None:
    assert of({"jobs": {"base_delay": 30}, "retry": {"max_delay": 60}}).retry.max_delay == 60
    assert of({"retry": {"max_delay": 60}}, {"jobs": {"base_delay": 30}}).retry.max_delay == 60
    assert of({"jobs": {"base_delay": 30}}, {"jobs": {"base_delay": 10}}).retry.max_delay is None
    assert of({"jobs": {"max_attempts": 3}}).retry.max_delay == 300


def test_both_spellings_of_one_queue_are_one_and_our_own_key_wins() -> None:
    settings = of(
        {
            "queues": {"HIGH": {"slots": 7, "owner": "ops"}},
            "jobs": {"workers": {"high": 20}, "poll-interval": {"high": 5}},
        }
    )
    assert len(settings.queues) == 1
    assert (
        settings.queue("HIGH").slots,
        settings.queue("HIGH").poll_interval,
        settings.queue("HIGH").owner,
    ) == (7, 5, "ops")


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"jobs": {"base-dealy": 1}}, "'jobs.base-dealy' in file1; did you mean 'base-delay'? known keys of 'jobs'"),
        ({"villagecompute": {"jobs": {"escalation": {"email": 1}}}}, "'villagecompute.jobs.escalation.email' in file1"),
        ({"villagecompute": {"job": {}}}, "unknown setting 'villagecompute.job' in file1; known keys: jobs"),
        ({"jobs": {"workers": 5}}, "setting 'jobs.workers' in file1 holds further keys"),
        ({"jobs": {"workers": {"high": "many"}}}, "'queues.high.slots' in file1: slots are a whole number from 0, or a range"),
    ],
)  # fmt: skip
def test_faults_in_the_seeds_tree(tree: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        of(tree)
    assert message in str(caught.value)
