"""Workflows as graphs: layers for a drawing, a tree for a terminal, and the languages of other programs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from postmill.domain.workflow_view import EdgeView, StepView


@dataclass(frozen=True, slots=True)
class Node:
    """Steps that are drawn as one: alike in what they wait for, what waits for them, and their job type.

    `states` counts them by state. `layer`: one more than that of the farthest parent, from 0.
    """

    key: int
    label: str
    steps: tuple[StepView, ...]
    layer: int
    parents: tuple[int, ...] = ()
    states: dict[str, int] = field(default_factory=dict)


def label(step: StepView, names: dict[int, str]) -> str:
    """What a step is called."""
    if step.name is not None:
        return step.name
    if step.role == "compensation" and step.compensates is not None:
        return f"undo {names.get(step.compensates, str(step.compensates))}"
    return step.role if step.role != "step" else f"job {step.no}"


def labels(steps: Sequence[StepView]) -> dict[int, str]:
    """The names of steps by their numbers."""
    names = {step.no: step.name for step in steps if step.name is not None}
    return {step.no: label(step, names) for step in steps}


def lines(steps: Sequence[StepView], edges: Sequence[EdgeView]) -> list[EdgeView]:
    """The edges, and those that nobody wrote: a compensation follows the step that it takes back."""
    followed = {edge.child for edge in edges}
    more = [
        EdgeView(step.compensates, step.no, "undo")
        for step in steps
        if step.compensates is not None and step.no not in followed
    ]
    return [*edges, *more]


def folded(steps: Sequence[StepView], edges: Sequence[EdgeView], most: int) -> list[Node]:
    """The graph, with as few nodes as show its form where it has more than `most`.

    First steps alike in parents, children and type are folded; where that is not enough, all of one type in one layer;
    at last whole layers.
    """
    parents: dict[int, set[int]] = {step.no: set() for step in steps}
    children: dict[int, set[int]] = {step.no: set() for step in steps}
    for edge in edges:
        if edge.parent in parents and edge.child in parents:
            parents[edge.child].add(edge.parent)
            children[edge.parent].add(edge.child)
    layer = _layers(parents, children)
    names = labels(steps)
    depth = max(layer.values(), default=0) + 1
    keys: list[Callable[[StepView], object]] = [
        lambda step: (layer[step.no], step.job_type, step.role, frozenset(parents[step.no]), frozenset(children[step.no])),
        lambda step: (layer[step.no], step.job_type, step.role),
        lambda step: layer[step.no],
        lambda step: layer[step.no] * most // depth,
    ]  # fmt: skip
    groups: dict[object, list[StepView]] = {step.no: [step] for step in steps}
    for key in keys:
        if len(groups) <= most:
            break
        groups = defaultdict(list)
        for step in steps:
            groups[key(step)].append(step)
    of = {step.no: n for n, group in enumerate(groups.values()) for step in group}
    made = []
    for n, group in enumerate(groups.values()):
        above = {of[parent] for step in group for parent in parents[step.no]} - {n}
        states: dict[str, int] = defaultdict(int)
        for step in group:
            states[step.state] += 1
        first = names[group[0].no]
        types = {step.job_type for step in group}
        what = next(iter(types)) if len(types) == 1 else "several types"
        text = first if len(group) == 1 else f"{len(group):,} × {what}"
        own = min(layer[step.no] for step in group)
        made.append(Node(n, text, tuple(group), own, tuple(sorted(above)), dict(states)))
    return made


def _layers(parents: dict[int, set[int]], children: dict[int, set[int]]) -> dict[int, int]:
    left = {no: len(above) for no, above in parents.items()}
    layer = {no: 0 for no, n in left.items() if n == 0}
    queue = list(layer)
    for no in queue:
        for child in children[no]:
            layer[child] = max(layer.get(child, 0), layer[no] + 1)
            left[child] -= 1
            if left[child] == 0:
                queue.append(child)
    return layer


def tree(
    steps: Sequence[StepView], edges: Sequence[EdgeView], *, most: int = 60
) -> list[tuple[str, Node, bool]]:
    """A tree for a terminal: the branch before each node, the node, and whether it stands elsewhere with its children.

    A node with several parents is drawn below the last one of them, and named at the others.
    """
    nodes = folded(steps, lines(steps, edges), most)
    children: dict[int, list[Node]] = defaultdict(list)
    for node in nodes:
        for parent in node.parents:
            children[parent].append(node)
    at_home = {
        node.key: max(node.parents, key=lambda key: (nodes[key].layer, key), default=-1) for node in nodes
    }
    made: list[tuple[str, Node, bool]] = []
    stack = [(node, "", "", -1) for node in reversed(nodes) if not node.parents]
    while stack:
        node, branch, indent, parent = stack.pop()
        elsewhere = at_home[node.key] != parent
        made.append((branch, node, elsewhere))
        if elsewhere:
            continue
        below = children[node.key]
        for n, child in reversed(list(enumerate(below))):
            last = n == len(below) - 1
            stack.append(
                (child, indent + ("└─ " if last else "├─ "), indent + ("   " if last else "│  "), node.key)
            )
    return made


def mermaid(steps: Sequence[StepView], edges: Sequence[EdgeView], *, most: int = 400) -> str:
    """A flowchart in Mermaid's language."""
    nodes = folded(steps, lines(steps, edges), most)
    out = ["flowchart LR"]
    out += [f'  n{node.key}["{_plain(node.label)}<br/>{_plain(told(node))}"]' for node in nodes]
    out += [f"  n{parent} --> n{node.key}" for node in nodes for parent in node.parents]
    return "\n".join(out)


def dot(steps: Sequence[StepView], edges: Sequence[EdgeView], *, most: int = 2000) -> str:
    """A digraph in the language of Graphviz."""
    nodes = folded(steps, lines(steps, edges), most)
    out = ["digraph workflow {", "  rankdir=LR;", "  node [shape=box];"]
    for node in nodes:
        text = f"{node.label}\\n{told(node)}".replace('"', '\\"')
        out.append(f'  n{node.key} [label="{text}"];')
    out += [f"  n{parent} -> n{node.key};" for node in nodes for parent in node.parents]
    return "\n".join([*out, "}"])


def told(node: Node) -> str:
    """The state of a node, or counts of several."""
    if len(node.states) == 1:
        return next(iter(node.states))
    return ", ".join(f"{n:,} {state}" for state, n in sorted(node.states.items(), key=lambda one: -one[1]))


def _plain(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
