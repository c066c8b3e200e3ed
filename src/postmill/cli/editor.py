"""A text in the editor of whoever is at the terminal."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

from postmill.cli.errors import CliError

DEFAULT = "vi"


def edited_text(text: str, suffix: str = ".json") -> str:
    """What $VISUAL, else $EDITOR, else vi leaves of `text`. The file lies in a folder that only the user can read.

    Raises:
        CliError: the editor cannot be started, or ends with an error.
    """
    words = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or DEFAULT)
    with tempfile.TemporaryDirectory(prefix="postmill-") as folder:
        file = Path(folder) / f"payload{suffix}"
        file.write_text(text, encoding="utf-8")
        try:
            code = subprocess.run([*words, str(file)], check=False).returncode
        except OSError as fault:
            raise CliError(f"the editor {words[0]!r} cannot be started: {fault}", "set EDITOR") from None
        if code != 0:
            raise CliError(f"the editor {words[0]!r} ended with exit code {code}", "nothing was done")
        return file.read_text(encoding="utf-8")
