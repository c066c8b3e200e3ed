"""What has changed between two versions of a run sheet, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Item = Mapping[str, Any]


def told(before_title: str, after_title: str, before: Sequence[Item], after: Sequence[Item]) -> list[str]:
    """One sentence for each change: the title, then what was taken out, then the new version in its order."""
    lines = [] if before_title == after_title else [f"Renamed from “{before_title}” to “{after_title}”."]
    old, new = {one["id"]: one for one in before}, {one["id"]: one for one in after}
    lines += [f"Took out “{one['what']}” at {one['at']}." for one in before if one["id"] not in new]
    for one in after:
        was = old.get(one["id"])
        lines += [_added(one)] if was is None else _changed(was, one)
    return lines or ["Nothing has changed."]


def _added(one: Item) -> str:
    who = f", with {one['who']}" if one.get("who") else ""
    return f"Added “{one['what']}” at {one['at']}{who}."


def _changed(was: Item, one: Item) -> list[str]:
    lines = []
    if was["at"] != one["at"]:
        lines.append(f"Moved “{was['what']}” from {was['at']} to {one['at']}.")
    if was["what"] != one["what"]:
        lines.append(f"Renamed “{was['what']}” to “{one['what']}”.")
    if was.get("who") != one.get("who"):
        lines.append(
            f"“{one['what']}”: {one.get('who') or 'nobody'} instead of {was.get('who') or 'nobody'}."
        )
    return lines
