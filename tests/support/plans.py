"""Plans as they ran, also of the statements inside functions: auto_explain tells them to the client."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from psycopg import Connection
from psycopg.errors import Diagnostic

Node = dict[str, Any]

SETTINGS = """
    load 'auto_explain';
    set auto_explain.log_min_duration = 0;
    set auto_explain.log_nested_statements = on;
    set auto_explain.log_analyze = on;
    set auto_explain.log_buffers = on;
    set auto_explain.log_timing = off;
    set auto_explain.log_format = json;
    set client_min_messages = log"""


FEW = 500
"""Rows of one reading of a table, below which it does not count."""


class Plans:
    """All statements of a trace, the outermost last; nodes that were never executed are left out."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.roots: list[Node] = []

    def told(self, message: Diagnostic) -> None:
        _, found, plan = (message.message_primary or "").partition("plan:\n")
        if found:
            told = json.loads(plan)
            self.texts.append(told["Query Text"])
            self.roots.append(told["Plan"])

    def nodes(self) -> Iterator[Node]:
        for root in self.roots:
            yield from _below(root)

    def scans(self, relation: str) -> list[Node]:
        """The scans of one table, or of all partitions of it."""
        return [
            node
            for node in self.nodes()
            if _is_of(node.get("Relation Name", ""), relation) and node["Node Type"] != "ModifyTable"
        ]

    def sequential(self) -> dict[str, int]:
        """Tables that were read from end to end, with the rows looked at. Those of a few pages are not told: a partition
        that has just begun, or just ended what was filled, is read so by any good plan.
        """
        return dict(
            sum(
                (
                    Counter({node["Relation Name"]: _rows(node)})
                    for node in self.nodes()
                    if node["Node Type"].endswith("Seq Scan") and _rows(node) >= FEW * node["Actual Loops"]
                ),
                Counter[str](),
            )
        )

    def conditions(self, relation: str) -> set[str]:
        """What is asked of the indexes of a table."""
        return {node.get("Index Cond", "") for node in self.scans(relation)}

    def probes(self, relation: str) -> int:
        """How often an index of it (or of one of its partitions) was entered."""
        return sum(node["Actual Loops"] for node in self.scans(relation))

    def rows(self, relation: str) -> int:
        """How many rows were looked at there, also those that a filter or another index threw away."""
        return sum(map(_rows, self.scans(relation)))

    @property
    def work(self) -> int:
        """How many rows all nodes have handled, also those that a filter threw away: a join gone wrong is quadratic here."""
        names = ("Rows Removed by Filter", "Rows Removed by Join Filter", "Rows Removed by Index Recheck")
        return sum(
            round((node["Actual Rows"] + sum(node.get(name, 0) for name in names)) * node["Actual Loops"])
            for node in self.nodes()
        )

    @property
    def buffers(self) -> int:
        """Pages that the outermost statement touched, everything inside included."""
        last = self.roots[-1]
        return int(last["Shared Hit Blocks"] + last["Shared Read Blocks"])

    def __str__(self) -> str:
        count = Counter(
            f"{n['Node Type']} {n.get('Relation Name', '')} {n.get('Index Cond', '')[:100]}"
            for n in self.nodes()
        )
        return "\n".join(f"{n:6} {what}" for what, n in count.items())


def _below(node: Node) -> Iterator[Node]:
    if node["Actual Loops"]:
        yield node
    for child in node.get("Plans", []):
        yield from _below(child)


def _rows(node: Node) -> int:
    thrown_away = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
    rows: int = round((node["Actual Rows"] + thrown_away) * node["Actual Loops"])
    return rows


def _is_of(name: str, relation: str) -> bool:
    return name == relation or (name.startswith(f"{relation}_") and name[len(relation) + 1 :][:8].isdigit())


@contextmanager
def traced(conn: Connection[Any]) -> Iterator[Plans]:
    """The plans of everything that this superuser's connection runs within."""
    plans = Plans()
    conn.execute(SETTINGS)
    conn.add_notice_handler(plans.told)
    try:
        yield plans
    finally:
        # The last statement's own plan is told when the next one begins.
        conn.execute("set auto_explain.log_min_duration = -1; reset client_min_messages")
        conn.remove_notice_handler(plans.told)
