import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from postmill.domain import curves
from postmill.domain.errors import DefinitionError, UnknownJobType
from postmill.domain.job_type import job
from postmill.domain.registry import Registry
from postmill.domain.retry import DEFAULT, Constant


@job("send", queue="mail", aliases=["send-email"])
def send() -> None: ...


@job("resize", queue="images")
def resize() -> None: ...


@job("notify", queue="mail")
def notify() -> None: ...


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package that can be imported as `shop_jobs`, and is forgotten afterwards."""
    folder = tmp_path / "shop_jobs"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "shop_jobs"]:
        del sys.modules[name]


def test_types_are_found_by_name_and_alias() -> None:
    registry = Registry([send, resize])
    assert registry["send"] is registry["send-email"] is registry.get("send") is send
    assert "resize" in registry
    assert "send-email" in registry
    assert (len(registry), list(registry), registry.names) == (2, [send, resize], ("send", "resize"))


def test_an_unknown_name_says_what_was_meant() -> None:
    registry = Registry([send, resize])
    assert registry.get("rezise") is None
    with pytest.raises(UnknownJobType, match=r"unknown job type 'rezise'; did you mean 'resize'\?"):
        registry["rezise"]


def test_queues_in_order_and_what_they_hold() -> None:
    registry = Registry([send, resize, notify])
    assert registry.queues == ("mail", "images")
    assert registry.of_queue("mail") == (send, notify)
    assert registry.of_queue("MAIL") == ()


def test_doubled_names_and_aliases_are_refused_with_both_places() -> None:
    @job("send")
    def other() -> None: ...

    @job("mailer", aliases=["send-email"])
    def third() -> None: ...

    for double, name in ((other, "send"), (third, "send-email")):
        with pytest.raises(
            DefinitionError, match=f"two job types are called '{name}': .*send and .*<locals>"
        ):
            Registry([send, double])


def test_one_type_seen_twice_is_one() -> None:
    assert len(Registry([send, send])) == 1


def test_collect_takes_modules_registries_and_types() -> None:
    module = ModuleType("some_jobs")
    module.__dict__.update({"a": send, "again": send, "more": Registry([resize]), "other": 5, "job": job})
    assert Registry.collect(module).names == ("send", "resize")
    assert Registry.collect(Registry([resize]), notify, module).names == ("resize", "notify", "send")
    assert Registry.collect(__name__).names == ("send", "resize", "notify")


def test_collect_walks_packages_but_runs_no_main(package: Path) -> None:
    (package / "mail.py").write_text("from postmill.domain.job_type import job\n@job\ndef one(): pass\n")
    (package / "__main__.py").write_text("raise SystemExit('run')\n")
    (package / "deep").mkdir()
    (package / "deep" / "__init__.py").write_text("from shop_jobs.mail import one\n")
    (package / "deep" / "two.py").write_text(
        "from postmill.domain.job_type import job\n@job\ndef two(): pass\n"
    )
    assert sorted(Registry.collect("shop_jobs").names) == ["one", "two"]


def test_settings_give_retry_where_the_type_names_none() -> None:
    @job(retry=Constant(1))
    def own_policy() -> None: ...

    @job(max_attempts=2)
    def own_attempts() -> None: ...

    @job(retry=curves.PLANNER_PLANNING)
    def own_curve() -> None: ...

    given = Registry([send, own_policy, own_attempts, own_curve])
    made = given.with_retry(Constant(9), 7)
    assert {t.name: (t.retry, t.max_attempts) for t in made} == {
        "send": (Constant(9), 7),
        "own_policy": (Constant(1), 7),
        "own_attempts": (Constant(9), 2),
        "own_curve": (curves.PLANNER_PLANNING.policy, 3),
    }
    assert made["own_curve"] is own_curve
    assert (send.retry, send.max_attempts) == (DEFAULT, 5)
    assert made["send-email"].fn is send.fn
    assert made["send"].bind(b"{}") == {}


def test_a_module_that_does_not_exist_is_told_from_one_that_fails(package: Path) -> None:
    (package / "broken.py").write_text("import no_such_library\n")
    with pytest.raises(DefinitionError, match=r"there is no module 'shop_jobs\.missing'"):
        Registry.collect("shop_jobs.missing")
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        Registry.collect("shop_jobs.broken")
