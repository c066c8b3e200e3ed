import pytest

from postmill.cli.commands.bench import parse_options, shown
from postmill.cli.errors import CliError
from tests.cli.support import cli


def test_options_in_every_spelling():
    words = ["--jobs", "300", "--keep=failures", "processes=2", "--fill-factor", "9"]
    assert parse_options(words) == {"jobs": "300", "keep": "failures", "processes": "2", "fill_factor": "9"}


@pytest.mark.parametrize("words", [["jobs"], ["--jobs"], ["-j", "3"]])
def test_what_is_no_option_is_refused(words):
    with pytest.raises(CliError, match="cannot read the option"):
        parse_options(words)


def test_the_cases_and_their_options(here):
    assert "throughput" in [case["case"] for case in cli("bench", "--json").json]
    assert "--jobs" in cli("bench").out
    unknown = cli("bench", "throughputt")
    assert unknown.code == 2
    assert "did you mean 'throughput'" in unknown.err
    assert "no option 'jbos'" in cli("bench", "throughput", "--jbos", "3").err


def test_figures_for_people():
    assert [shown(value) for value in (30123.4, 0.612345, 300000, True, "x")] == [
        "30,123",
        "0.612",
        "300,000",
        "true",
        "x",
    ]
