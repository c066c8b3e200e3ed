"""What is told about a command line that does not fit its command: what is expected, what came, what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from postmill.cli.errors import Explanation
from postmill.cli.exits import ExitCode
from postmill.cli.help_page import label, usage
from postmill.cli.text import one_line
from postmill.domain.suggest import suggest

_EXPECTED = {
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a smaller whole number",
    "float_parsing": "a number",
    "uuid_parsing": "a UUID, as in 0198f3a2-7c11-7abc-8def-0123456789ab",
    "greater_than_equal": "{ge} or more",
    "less_than_equal": "{le} or less",
    "greater_than": "more than {gt}",
    "less_than": "less than {lt}",
}


def explain_usage(fault: Any) -> Explanation:
    """What to tell about a fault of Typer's parser, in our form."""
    context = getattr(fault, "ctx", None)
    hint = f"see: {context.command_path} --help" if context else ""
    return Explanation(ExitCode.USAGE, "UsageError", _message(fault, context), hint)


def _message(fault: Any, context: Any) -> str:
    kind, param = type(fault).__name__, getattr(fault, "param", None)
    if kind == "NoArgsIsHelpError":
        return ""  # the page is on the screen already
    if kind == "NoSuchOption" and context:
        known = [name for param in context.command.params for name in param.opts if name.startswith("--")]
        meant = suggest(fault.option_name, known)
        said = f"`{context.command_path}` has no option {one_line(fault.option_name, 60)}"
        return f"{said}; did you mean {meant}?" if meant else said
    if kind == "BadOptionUsage":
        return f"{fault.option_name} needs a value"
    if kind == "MissingParameter" and param is not None and context:
        return f"missing {label(param)}; write: {usage(context.command, context.command_path)}"
    if param is not None:
        return _value(fault, param)
    message = one_line(fault.format_message(), 400).rstrip(".")
    return message[:1].lower() + message[1:]


def _value(fault: Any, param: Any) -> str:
    """`--limit takes a whole number, not 'x'`."""
    name = label(param) if not param.opts[0].startswith("-") else max(param.opts, key=len)
    detail: Any = fault.__cause__.errors()[0] if isinstance(fault.__cause__, ValidationError) else None
    if detail is None:
        return f"{name}: {one_line(fault.message, 400)}"
    given = one_line(repr(detail["input"]), 80)
    choices = _choices(param)
    if choices:
        meant = suggest(str(detail["input"]), choices)
        said = f"{name} takes one of {', '.join(choices)}, not {given}"
        return f"{said}; did you mean {meant}?" if meant else said
    expected = _EXPECTED.get(detail["type"])
    if expected is None:
        return f"{name}: {one_line(detail['msg'], 400).removeprefix('Value error, ')}"
    return f"{name} takes {expected.format(**detail.get('ctx', {}))}, not {given}"


def _choices(param: Any) -> Sequence[str]:
    described = getattr(param, "type_descriptor", None) or getattr(param, "type", None)
    found = getattr(described, "choices", None) or ()
    return [str(getattr(choice, "value", choice)) for choice in found]
