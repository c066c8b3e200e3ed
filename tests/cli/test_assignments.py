import pytest

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
        ("times=five", "'times' takes an integer, not 'five'"),
        ("times=1.5", "takes an integer"),
        ("share=inf", "takes a number"),
        ("share=nan", "takes a number"),
        ("loud=maybe", "takes a boolean"),
        ("tags:=[", "is not JSON"),
        ("tags:=NaN", "is no JSON number"),
        ("nme=x", "unknown argument 'nme'; did you mean 'name'?"),
        ("name", "cannot read the argument 'name'"),
        ("=x", "cannot read the argument"),
        ("sizes=a", "takes an array"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(part, said):
    with pytest.raises(CliError) as refused:
        parsed(part)
    assert said in str(refused.value)


def test_missing_arguments_are_listed_with_their_types():
    with pytest.raises(CliError, match=r"missing argument: name \(string\)"):
        parse_assignments(["times=1"], SCHEMA)
