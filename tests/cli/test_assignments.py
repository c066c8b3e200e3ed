import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postmill import job
from postmill.cli.assignments import parse_assignments
from postmill.cli.errors import CliError

SCHEMA = {
    "additionalProperties": False,
    "required": ["name"],
    "$defs": {"Size": {"enum": ["S", "M"], "type": "string"}, "Box": {"type": "object"}},
    "properties": {
        "name": {"type": "string"},
        "times": {"type": "integer"},
        "share": {"type": "number"},
        "loud": {"type": "boolean"},
        "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "sizes": {"type": "array", "items": {"type": "integer"}},
        "size": {"$ref": "#/$defs/Size"},
        "box": {"$ref": "#/$defs/Box"},
        "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "anything": {},
    },
}


def parsed(*parts: str) -> dict[str, object]:
    found = parse_assignments(["name=x", *parts], SCHEMA)
    del found["name"]
    return found


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("times=5", 5),
        ("times=-5", -5),
        ("share=0.5", 0.5),
        ("share=2", 2),
        ("share=1e3", 1000.0),
        ("loud=true", True),
        ("loud=No", False),
        ("loud=1", True),
        ("limit=3", 3),
        ("limit=null", None),
        ("limit=", None),
        ("size=S", "S"),
        ("either=5", "5"),
        ("either:=5", 5),
        ("anything=5", "5"),
        ("anything=a=b:=c", "a=b:=c"),
        ("anything=", ""),
        ('anything:={"a": [1, null]}', {"a": [1, None]}),
        ('box={"a": 1}', {"a": 1}),
        ("tags=a", ["a"]),
        ('tags=["a", "b"]', ["a", "b"]),
        ("tags:=[]", []),
        ("sizes=3", [3]),
        ("anything=two\nlines", "two\nlines"),
    ],
)
def test_a_value_is_typed_by_the_schema(part, value):
    found = parsed(part)
    assert found == {part.split("=")[0].rstrip(":"): value}
    assert type(next(iter(found.values()))) is type(value)


def test_a_repeated_name_is_a_list_where_one_is_taken():
    assert parsed("tags=a", "tags=b", "sizes=1", "sizes=2") == {"tags": ["a", "b"], "sizes": [1, 2]}
    with pytest.raises(CliError, match="'times' is given 2 times"):
        parsed("times=1", "times=2")


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("times=five", "'times' takes integer, not 'five'"),
        ("times=1.5", "takes integer"),
        ("share=inf", "takes number"),
        ("share=nan", "takes number"),
        ("loud=maybe", "takes boolean"),
        ("tags:=[", "is not JSON"),
        ("tags:=NaN", "is no JSON number"),
        ("nme=x", "unknown argument 'nme'; did you mean 'name'?"),
        ("name", "cannot read the argument 'name'"),
        ("=x", "cannot read the argument"),
        ("sizes=a", "takes array"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(part, said):
    with pytest.raises(CliError) as refused:
        parsed(part)
    assert said in str(refused.value)


def test_missing_arguments_are_listed_with_their_types():
    with pytest.raises(CliError, match=r"missing argument: name \(string\)"):
        parse_assignments(["times=1"], SCHEMA)


def test_a_base_payload_is_added_to():
    assert parse_assignments(["times=2"], SCHEMA, {"name": "Ada", "times": 1}) == {"name": "Ada", "times": 2}


def test_an_open_schema_takes_everything_as_text():
    assert parse_assignments(["a=1", "b:=2"], {}) == {"a": "1", "b": 2}


@given(
    st.dictionaries(
        st.from_regex(r"[a-z_]{1,10}", fullmatch=True),
        st.recursive(
            st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(),
            lambda inner: st.lists(inner, max_size=3),
            max_leaves=5,
        ),
    )
)
def test_any_json_goes_through(values):
    parts = [f"{name}:={json.dumps(value)}" for name, value in values.items()]
    assert parse_assignments(parts, {}) == values


@given(st.text())
def test_any_text_goes_through_as_text(text):
    assert parse_assignments([f"name={text}"], SCHEMA) == {"name": text}


def test_the_schema_of_a_real_job_type():
    @job
    def send(to: str, copies: int = 1, cc: list[str] | None = None, urgent: bool = False) -> None: ...

    found = parse_assignments(["to=1", "copies=2", "cc=a", "cc=b", "urgent=yes"], send.json_schema())
    assert found == {"to": "1", "copies": 2, "cc": ["a", "b"], "urgent": True}
    assert json.loads(send.new(**found).payload) == found
