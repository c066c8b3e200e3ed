"""Docstrings as Markdown: paragraphs stay, and Args, Attributes, Returns and Raises become lists."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap

_SECTION = re.compile(r"(Args|Attributes|Returns|Raises):")
_TITLES = {"Args": "Arguments", "Attributes": "Attributes", "Returns": "Returns", "Raises": "Raises"}
_ITEM = re.compile(r"([\w*, ]+): +(.*)", re.DOTALL)


def for_readers(text: str) -> str:
    """Without the references to the designs that the defaults come from: readers do not have them."""
    text = re.sub(r"\s*\((?:seed|seeds) [^)]*\)", "", text)
    return text.replace("Defaults are seed 5's: ", "Defaults: ").replace(
        "a policy, a seed's curve, or", "a policy, or"
    )


def paragraphs(text: str) -> str:
    """The docstring `text`."""
    parts, lines = [], text.splitlines()
    while lines:
        line = lines.pop(0)
        if (found := _SECTION.fullmatch(line)) is None:
            parts.append(line)
            continue
        held = []
        while lines and (not lines[0] or lines[0].startswith(" ")):
            held.append(lines.pop(0))
        parts += [f"{_TITLES[found[1]]}:", "", *_items(textwrap.dedent("\n".join(held))), ""]
    return "\n".join(parts)


def attribute_texts(kind: type) -> dict[str, str]:
    """The texts that stand below the attributes of a class."""
    body = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    assert isinstance(body, ast.ClassDef)
    made = {}
    for field, text in zip(body.body, body.body[1:], strict=False):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(text, ast.Expr)
        ):
            made[field.target.id] = for_readers(" ".join(str(ast.literal_eval(text.value)).split()))
    return made


def _items(text: str) -> list[str]:
    """One item per name; a line that begins none goes on with the last."""
    made: list[str] = []
    for line in text.splitlines():
        found = _ITEM.fullmatch(line)
        if found is not None and not line.startswith(" "):
            made.append(f"- `{found[1]}`: {found[2]}")
        elif line.strip() and made:
            made[-1] += f" {line.strip()}"
        elif line.strip():
            made.append(f"- {line.strip()}")
    return made
