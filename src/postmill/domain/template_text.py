"""One text of a payload template, compiled by Jinja2."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from jinja2 import TemplateError, TemplateSyntaxError, nodes
from jinja2.runtime import Undefined

from postmill.domain.errors import Fault
from postmill.domain.template import Context, TemplateFailed, Value
from postmill.domain.template_language import LONGEST_EXPRESSION, TemplateEnvironment, refuse_forbidden

_ENVIRONMENT = TemplateEnvironment()


def text_value(text: str, path: str, roots: Collection[str], faults: list[Fault]) -> Value:
    """What the text at `path` is in a context. What is wrong about it is added to the faults."""
    try:
        return _text(text, path, roots, faults)
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
