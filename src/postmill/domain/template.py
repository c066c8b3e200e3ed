"""Payload templates: JSON whose texts may hold `{{ expressions }}`, rendered from an event or a due moment."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import Any

from postmill.domain.errors import Fault, PayloadRefused, PostmillError
from postmill.domain.payload import encode

MOST_BYTES = 64 * 1024
"""JSON of a template."""

MOST_EXPRESSIONS = 200

EVENT_ROOTS = frozenset({"event", "meta", "trigger", "tenant"})
SCHEDULE_ROOTS = frozenset({"schedule", "trigger", "tenant"})

Context = Mapping[str, Any]
Value = Callable[[Context], Any]


class TemplateRefused(PostmillError):
    """A template is written wrongly: where, and why. Raised when it is saved."""

    def __init__(self, faults: list[Fault]) -> None:
        self.faults = faults
        super().__init__(faults)

    def __str__(self) -> str:
        return "; ".join(map(str, self.faults))


class TemplateFailed(PostmillError):
    """A template does not fit the event or moment it was rendered from; no job is made."""

    def __init__(self, path: str, why: str) -> None:
        self.path = path
        self.why = why
        super().__init__(path, why)

    def __str__(self) -> str:
        return f"payload_template{self.path}: {self.why}"


class Template:
    """A template, compiled.

    A text that is one whole expression gives that value with its JSON type; in a longer text a value stands as JSON
    writes it, texts without quotes. Names of fields are never rendered.

    Args:
        template: plain JSON data.
        roots: the names that expressions may begin with.

    Raises:
        TemplateRefused: names each text that is wrong.
    """

    __slots__ = ("_fixed", "_value")

    def __init__(self, template: object, roots: Collection[str]) -> None:
        if not isinstance(template, Mapping):
            raise TemplateRefused([Fault("", f"is an object, not {type(template).__name__}")])
        faults: list[Fault] = []
        texts: list[str] = []
        self._value = _compiled(template, "", roots, faults, texts)
        if len(texts) > MOST_EXPRESSIONS:
            faults.append(
                Fault("", f"has {len(texts)} texts with expressions; at most {MOST_EXPRESSIONS} are allowed")
            )
        if faults:
            raise TemplateRefused(faults)
        self._fixed: bytes | None = None if texts else encode(dict(template))

    def render(self, context: Context) -> bytes:
        """The payload, as JSON that can be stored.

        Raises:
            TemplateFailed: names the text that could not be rendered.
        """
        if self._fixed is not None:
            return self._fixed
        try:
            return encode(self._value(context))
        except PayloadRefused as fault:
            raise TemplateFailed(fault.path.removeprefix("args"), fault.why) from None
        except RecursionError:
            raise TemplateFailed("", "is nested too deeply") from None


@lru_cache(maxsize=2048)
def template_of(text: str, roots: frozenset[str]) -> Template:
    """The template of a stored text, compiled once.

    Raises:
        TemplateRefused: it is written wrongly, or too large.
    """
    return Template(json.loads(text), roots)


def check_template(template: object, roots: frozenset[str]) -> str:
    """A template as the text that is stored.

    Raises:
        TemplateRefused: names each text that is wrong.
        PayloadRefused: it cannot be stored.
    """
    if not isinstance(template, Mapping):
        raise TemplateRefused([Fault("", f"is an object, not {type(template).__name__}")])
    text = encode(template, max_bytes=MOST_BYTES).decode()
    template_of(text, roots)
    return text


def _compiled(value: Any, path: str, roots: Collection[str], faults: list[Fault], texts: list[str]) -> Value:
    if isinstance(value, Mapping):
        fields = {key: _compiled(item, f"{path}.{key}", roots, faults, texts) for key, item in value.items()}
        return lambda context: {key: item(context) for key, item in fields.items()}
    if isinstance(value, list):
        items = [_compiled(item, f"{path}[{n}]", roots, faults, texts) for n, item in enumerate(value)]
        return lambda context: [item(context) for item in items]
    if not isinstance(value, str) or ("{{" not in value and "{%" not in value):
        return lambda context: value
    texts.append(value)
    from postmill.domain.template_text import text_value  # with Jinja2, which most processes never need

    return text_value(value, path, roots, faults)
