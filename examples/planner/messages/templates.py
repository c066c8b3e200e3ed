"""The texts of notifications, filled with the variables of a job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Template:
    """Names in braces are variables."""

    subject: str
    text: str


TEMPLATES: Mapping[str, Template] = {
    "assignment": Template("You are on {mission}", "You are assigned to {mission}, {when}."),
    "run-sheet-updated": Template("New run sheet: {title}", "{title} is now version {version}."),
    "reminder": Template("Reminder: {mission}", "{mission} begins {when}."),
}


class BadTemplate(Exception):
    """There is no such template, or a variable of it is missing: a malformed payload."""

    retryable = False


def written(name: str, variables: Mapping[str, str]) -> Template:
    """A template with its variables filled in. Raises BadTemplate."""
    found = TEMPLATES.get(name)
    if found is None:
        raise BadTemplate(f"there is no template {name!r}; there are: {', '.join(TEMPLATES)}")
    try:
        return Template(found.subject.format_map(variables), found.text.format_map(variables))
    except KeyError as missing:
        raise BadTemplate(f"template {name!r} needs the variable {missing}") from None
