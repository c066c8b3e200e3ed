import pytest

from postmill.cli.errors import CliError
from postmill.cli.modules import load_registry
from postmill.domain.errors import DefinitionError

ONE = "from postmill import job\n@job\ndef {0}() -> None: ...\n"


def test_a_file_in_the_current_folder(here):
    (here / "my_jobs.py").write_text(ONE.format("one"))
    assert load_registry(["my_jobs.py"]).names == ("one",)
    assert load_registry(["my_jobs"]).names == ("one",)
    assert load_registry([str(here / "my_jobs.py")]).names == ("one",)


def test_a_dotted_name_and_a_package(here):
    (here / "shop").mkdir()
    (here / "shop" / "__init__.py").write_text("")
    (here / "shop" / "mail.py").write_text("from shop import names\n" + ONE.format("send"))
    (here / "shop" / "names.py").write_text("")
    assert load_registry(["shop.mail"]).names == ("send",)
    assert load_registry(["shop/mail.py"]).names == ("send",)
    assert load_registry(["shop"]).names == ("send",)


def test_a_file_elsewhere_with_its_neighbours(here, tmp_path_factory):
    away = tmp_path_factory.mktemp("else where")
    (away / "near_by.py").write_text("NAME = 'far'\n")
    (away / "far_jobs.py").write_text("import near_by\n" + ONE.format("far"))
    assert load_registry([str(away / "far_jobs.py")]).names == ("far",)


def test_several_modules_make_one_registry(here):
    (here / "a_jobs.py").write_text(ONE.format("one"))
    (here / "b_jobs.py").write_text(ONE.format("two"))
    assert load_registry(["a_jobs", "b_jobs.py"]).names == ("one", "two")
    (here / "c_jobs.py").write_text(ONE.format("one"))
    with pytest.raises(DefinitionError, match="two job types are called 'one'"):
        load_registry(["a_jobs", "c_jobs"])


def refused(*modules):
    with pytest.raises(CliError) as found:
        load_registry(modules)
    assert found.value.code == 2
    return f"{found.value} → {found.value.hint}"


def test_a_module_that_is_not_there(here):
    assert "postmill init" in refused("jobs.py")
    (here / "my_jobs.py").write_text("")
    said = refused("my_job.py")
    assert "did you mean my_jobs.py?" in said
    assert "Python files here: my_jobs.py" in said
    assert "did you mean my_jobs?" in refused("my_job")
    said = f"no module 'shop.mail': there is no shop/mail.py or shop/mail/ in {here}, and none is installed"
    assert said in refused("shop.mail")
    assert f"expected a file or package, but there is no {here / 'away.py'}" in refused("away.py")
    assert f"there is no {here / 'shop' / 'mail.py'}" in refused("shop/mail.py")


def test_a_module_without_a_job(here):
    (here / "empty_jobs.py").write_text("x = 1\n")
    assert "defines no job type" in refused("empty_jobs.py")
    assert "@job" in refused("empty_jobs.py")


def test_a_module_that_cannot_be_imported_names_the_line(here):
    (here / "bad_jobs.py").write_text("x = 1\nraise ValueError('broken')\n")
    assert "ValueError: broken (bad_jobs.py, line 2)" in refused("bad_jobs.py")
    (here / "odd_jobs.py").write_text("def broken(:\n")
    assert refused("odd_jobs.py").count("odd_jobs.py, line 1") == 1
    assert "SyntaxError: " in refused("odd_jobs.py")
    (here / "poor_jobs.py").write_text("import a_package_that_is_not_there\n")
    said = refused("poor_jobs.py")
    assert "No module named 'a_package_that_is_not_there'" in said
    assert "poor_jobs.py, line 1" in said


def test_a_name_that_is_taken_or_no_name(here):
    (here / "json.py").write_text(ONE.format("one"))
    assert "another module is called 'json'" in refused("json.py")
    (here / "my-jobs.py").write_text(ONE.format("one"))
    assert "no Python name" in refused("my-jobs.py")


def test_a_type_that_no_database_can_hold(here):
    (here / "nul_jobs.py").write_text('from postmill import job\n@job\ndef nul() -> None:\n    "a\\0b"\n')
    with pytest.raises(DefinitionError, match="job type 'nul', description: holds a NUL"):
        load_registry(["nul_jobs.py"])
