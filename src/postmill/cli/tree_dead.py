"""The part of the tree of commands that is about dead letters."""

from __future__ import annotations

from postmill.cli.options import command, group

dead_app = group("Dead letters: jobs given up on, waiting for you.")
operations_app = group("Bulk acts on jobs that workers carry out.")

command(
    dead_app,
    "list",
    examples=[
        "postmill dead list --reason max_retries_exceeded",
        "postmill dead list --error-status 429 --older-than 24h",
    ],
)("dead.list_")
command(dead_app, "show", examples=["postmill dead show 0198f3a2-7c11-7abc"])("dead.show")
command(dead_app, "stats", examples=["postmill dead stats", "postmill dead stats --tenant bakery --json"])(
    "dead_stats.stats"
)
command(
    dead_app,
    "edit",
    examples=["postmill dead edit 0198f3a2-7c11-7abc to=Paris", "postmill dead edit 0198f3a2-7c11-7abc"],
)("dead_edit.edit")
command(
    dead_app,
    "replay",
    examples=[
        "postmill dead replay 0198f3a2-7c11-7abc",
        "postmill dead replay --all --type greet --yes",
        "postmill dead replay --all --error-status 429 --canary 5 --rate 50",
    ],
)("dead_act.replay")
command(
    dead_app,
    "discard",
    examples=[
        "postmill dead discard 0198f3a2-7c11-7abc --reason 'no longer needed'",
        "postmill dead discard --all --error-group 9f86d081884c7d65 --rate 200 --reason 'test data'",
    ],
)("dead_act.discard")
command(dead_app, "rules", examples=["postmill dead rules"])("dead_stats.rules")

command(
    operations_app,
    "start",
    examples=[
        "postmill operations start replay --query 'state:dead_letter type:greet' --canary 10 --rate 20",
        "postmill operations start move --query 'type:greet state:queued' --queue slow",
    ],
)("operations_start.start")
command(operations_app, "list", examples=["postmill operations list", "postmill operations list --all"])(
    "operations.list_"
)
command(
    operations_app,
    "show",
    examples=["postmill operations show 0198f3a2", "postmill operations show 0198f3a2 --watch"],
)("operations.show")
command(operations_app, "pause", examples=["postmill operations pause 0198f3a2 --reason 'provider is down'"])(
    "operations.pause"
)
command(operations_app, "resume", examples=["postmill operations resume 0198f3a2"])("operations.resume")
command(operations_app, "approve", examples=["postmill operations approve 0198f3a2"])("operations.approve")
command(operations_app, "abort", examples=["postmill operations abort 0198f3a2 --reason 'wrong filter'"])(
    "operations.abort"
)
