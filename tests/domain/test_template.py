"""Payload templates: what they give, what they may not say, and what they may cost."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from postmill.domain.template import EVENT_ROOTS, Template, TemplateFailed, TemplateRefused, check_template

EVENT: dict[str, Any] = {
    "n": 3, "yes": True, "none": None, "text": "a{{ b }}", "list": [1, "two"], "items": {"keys": "K", "get": 1}, "float": 1.5,
}  # fmt: skip


def render(value: Any, event: Any = None) -> Any:
    template = Template({"value": value}, EVENT_ROOTS)
    return json.loads(
        template.render({"event": EVENT if event is None else event, "meta": {"event_name": "e"}})
    )["value"]


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("plain", "plain"),
        (7, 7),
        ("{{ event.n }}", 3),
        ("{{event.yes}}", True),
        ("{{ event.none }}", None),
        ("{{ event.list }}", [1, "two"]),
        ("{{ event.items }}", EVENT["items"]),
        ("{{ event.float }}", 1.5),
        # A value of the event is never itself a template.
        ("{{ event.text }}", "a{{ b }}"),
        ("n={{ event.n }} {{ event.yes }} {{ event.none }} {{ event.list }}", 'n=3 true null [1,"two"]'),
        (" {{ event.n }}", " 3"),
        ("a\n{{ event.n }}\n", "a\n3\n"),
        # Fields are found whatever they are called: no method of a dict is in the way.
        ("{{ event.items.keys }}", "K"),
        ("{{ event['items']['get'] }}", 1),
        ("{{ event.list[1] }}", "two"),
        ("{{ event.list[-2] }}", 1),
        ("{{ event.nothing | default('d') }}", "d"),
        ("{{ event.nothing is defined }}", False),
        ("{{ 'big' if event.n > 2 else 'small' }}", "big"),
        ("{{ event.n + 1 - 2 }}", 2),
        ("{{ 'x' ~ event.n ~ '-' ~ meta.event_name }}", "x3-e"),
        ("{{ event.list | join('/') }}", "1/two"),
        ("{{ event.list | length }}", 2),
        ("{{ event.items | tojson }}", '{"keys":"K","get":1}'),
        ("{{ 2.567 | round(1) }}", 2.6),
        ("{{ {'a': [event.n]} }}", {"a": [3]}),
        ("{# not a comment #} {{ event.n }}", "{# not a comment #} 3"),
        (["{{ event.n }}", {"deep": "{{ event.yes }}"}], [3, {"deep": True}]),
    ],
)  # fmt: skip
def test_what_a_template_gives(template: Any, value: Any) -> None:
    found = render(template)
    assert found == value
    assert type(found) is type(value)


def test_names_of_fields_are_never_rendered() -> None:
    template = Template({"{{ event.n }}": 1}, EVENT_ROOTS)
    assert json.loads(template.render({"event": EVENT})) == {"{{ event.n }}": 1}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{% for x in event %}{% endfor %}", "only {{ expressions }}"),
        ("{{ event.n ", "unexpected end of template"),
        ("{{ }}", "Expected an expression"),
        ("{{ evnt.n }}", "there is no 'evnt' here; known are: event, meta, tenant, trigger"),
        ("{{ event.items.get('a') }}", "a call is not allowed"),
        ("{{ ''.join(['a']) }}", "a call is not allowed"),
        ("{{ range(9) }}", "a call is not allowed"),
        ("{{ 'a' * 1000000000 }}", "a multiplication is not allowed"),
        ("{{ 9 ** 9 ** 9 }}", "a power is not allowed"),
        ("{{ '%99999999d' % 1 }}", "a remainder is not allowed"),
        ("{{ event.list[0:1] }}", "a slice is not allowed"),
        ("{{ event | pprint }}", "No filter named 'pprint'"),
        ("{{ 'a' | center(100000000) }}", "No filter named 'center'"),
        ("{{ event is callable }}", "No test named 'callable'"),
        ("{{ self.x }}", "there is no 'self' here"),
        ("{{ event.n }}" + "x" * 1000, "longer than 1000 characters"),
        ("{{ " + " ~ ".join(["event.n"] * 51) + " }}", "has 51 names; at most 50"),
        ("{{ " + "[" * 150 + "]" * 150 + " }}", "nested too deeply"),
        ("{{ " + "(" * 400 + "1" + ")" * 400 + " }}", "nested too deeply"),
        ("{{ " + "not " * 220 + "1 }}", "nested too deeply"),
    ],
)
def test_what_a_template_may_not_say(text: str, why: str) -> None:
    with pytest.raises(TemplateRefused) as refused:
        check_template({"a": [{"b": text}]}, EVENT_ROOTS)
    assert any(fault.path == ".a[0].b" for fault in refused.value.faults)
    assert why in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "{{ event.nothing }}",
            "{{ event.nothing.more | default(1) }}",
            "n: {{ event.nothing }}",
            "{{ event.list[2] }}",
        ),
        *(
            "{{ event.__class__ }}",
            "{{ event.list.append }}",
            "{{ event.text.format }}",
            "{{ event['__class__'] }}",
        ),
        *(
            "{{ event.n + 'a' }}",
            "{{ event.list - 1 }}",
            "{{ 'inf' | float }}",
            "{{ event.n.real }}",
            "{{ [event.nothing] }}",
        ),
        *(
            "{{ 1.5 | round(100000000) }}",
            "{{ event.text | replace('a', 'b' ~ '" + "x" * 30 + "') }}",
            "{{ event.n[0] }}",
        ),
    ],
)
def test_what_does_not_fit_fails(text: str) -> None:
    with pytest.raises(TemplateFailed, match=r"payload_template\.value"):
        render(text)


@pytest.mark.parametrize(
    ("text", "event"),
    [
        ("{{ '\"'" + "|tojson" * 120 + " }}", {}),
        ("{{ 'x'" + "|replace('x','xxxxxxxxxxxxxxxxxxxx')" * 25 + " }}", {}),
        ("{{ " + " ~ ".join(["event.b"] * 50) + " }}", {"b": "x" * 1_000_000}),
        ("{{ [" + ", ".join(["event.b"] * 50) + "] }}", {"b": "x" * 1_000_000}),
        ("{{ event.b | join('" + "x" * 20 + "') }}", {"b": [""] * 500_000}),
    ],
)  # fmt: skip
def test_nothing_large_is_made_of_little(text: str, event: Any) -> None:
    began = time.process_time()
    with pytest.raises(TemplateFailed, match="are allowed"):
        render(text, event)
    assert time.process_time() - began < 5


def test_a_template_is_bounded() -> None:
    with pytest.raises(TemplateRefused, match="201 texts with expressions"):
        check_template({str(n): "{{ event.n }}" for n in range(201)}, EVENT_ROOTS)
    with pytest.raises(Exception, match="at most 65536 are allowed"):
        check_template({"a": "x" * 70_000}, EVENT_ROOTS)
    with pytest.raises(TemplateRefused, match="is an object, not list"):
        check_template([], EVENT_ROOTS)
