"""`manage.py postmill_worker`: runs the project's jobs and tasks."""

from __future__ import annotations

from postmill.contrib.django.management.commands.postmill import Command as PostmillCommand


class Command(PostmillCommand):
    """`postmill worker` with the modules of the project; its options are those of that command."""

    help = "Run the project's jobs and tasks until SIGTERM or Ctrl-C; options as those of: postmill worker"
    first = ("worker", "postmill.contrib.django.registry")
