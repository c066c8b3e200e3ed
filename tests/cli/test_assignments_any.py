"""Whatever a value is, it goes through."""

import json

from hypothesis import given
from hypothesis import strategies as st

from postmill import job
from postmill.cli.assignments import parse_assignments

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
