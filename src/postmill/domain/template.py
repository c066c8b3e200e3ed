"""Payload templates: JSON whose texts may hold `{{ expressions }}`, rendered from an event or a due moment."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any

from jinja2 import TemplateError, TemplateSyntaxError, nodes
from jinja2.runtime import Undefined

from postmill.domain.errors import Fault, PayloadRefused, PostmillError
from postmill.domain.payload import encode
from postmill.domain.template_language import LONGEST_EXPRESSION, TemplateEnvironment, refuse_forbidden

MOST_BYTES = 64 * 1024
"""JSON of a template."""

MOST_EXPRESSIONS = 200

EVENT_ROOTS = frozenset({"event", "meta", "trigger", "tenant"})
SCHEDULE_ROOTS = frozenset({"schedule", "trigger", "tenant"})

Context = Mapping[str, Any]
Value = Callable[[Context], Any]

_ENVIRONMENT = TemplateEnvironment()


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
    try:
        return _text(value, path, roots, faults)
    except TemplateSyntaxError as fault:
        faults.append(Fault(path, f"is no template: {fault.message}"))
    except TemplateError as fault:
        faults.append(Fault(path, f"is no template: {str(fault)[:200]}"))
    except (RecursionError, SyntaxError, MemoryError, ValueError):
        faults.append(Fault(path, "is no template: it is nested too deeply"))
    return lambda context: None


def _text(text: str, path: str, roots: Collection[str], faults: list[Fault]) -> Value:
    if "{%" in text:
        faults.append(Fault(path, "holds a statement; only {{ expressions }} are allowed"))
        return lambda context: None
    if len(text) > LONGEST_EXPRESSION:
        faults.append(
            Fault(path, f"is longer than {LONGEST_EXPRESSION} characters, with an expression in it")
        )
        return lambda context: None
    parts = list(_parts(_ENVIRONMENT.parse(text)))
    for part in parts:
        if not isinstance(part, nodes.TemplateData):
            faults += [Fault(path, why) for why in refuse_forbidden(part, roots)]
    if faults:
        return lambda context: None
    if len(parts) == 1 and not isinstance(parts[0], nodes.TemplateData):
        return _whole(parts[0], path)
    compiled = _ENVIRONMENT.from_string(text)

    def value(context: Context) -> str:
        with _Failing(path):
            return compiled.render(context)

    return value


def _parts(tree: nodes.Template) -> Iterator[nodes.Expr]:
    for node in tree.body:
        assert isinstance(node, nodes.Output), "without statements there is only output"
        yield from node.nodes


def _whole(expression: nodes.Expr, path: str) -> Value:
    """One expression, whose value keeps its type: as Jinja2's own compile_expression, from a tree."""
    assign = nodes.Assign(nodes.Name("result", "store"), expression, lineno=1)
    compiled = _ENVIRONMENT.from_string(nodes.Template([assign], lineno=1))

    def value(context: Context) -> Any:
        with _Failing(path):
            made = compiled.new_context(dict(context))
            for _ in compiled.root_render_func(made):
                pass
            result = made.vars["result"]
            if isinstance(result, Undefined):
                result._fail_with_undefined_error()
            return result

    return value


class _Failing:
    """Whatever goes wrong inside becomes TemplateFailed."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, where: object) -> None:
        if isinstance(
            error, TemplateError | TypeError | ValueError | ArithmeticError | LookupError | AttributeError
        ):
            raise TemplateFailed(self._path, str(error)[:300] or type(error).__name__) from None
