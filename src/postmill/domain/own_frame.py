"""Which of the frames of a stack is the user's own code."""

from __future__ import annotations

import os
from types import TracebackType

_INSTALLED = ("/site-packages/", "/dist-packages/")
_STANDARD = os.path.dirname(os.__file__).replace(os.sep, "/") + "/"
_POSTMILL = os.path.dirname(os.path.dirname(__file__)).replace(os.sep, "/") + "/"


def own_frame(stack: TracebackType | None) -> str:
    """`module:function` of the innermost frame that is neither of a library nor of Postmill; empty if there is none.

    Without a line number: an edit elsewhere in the file makes no new error of it.
    """
    found = ""
    while stack is not None:
        code = stack.tb_frame.f_code
        if is_own(code.co_filename):
            found = f"{stack.tb_frame.f_globals.get('__name__', '')}:{code.co_qualname}"
        stack = stack.tb_next
    return found


def is_own(file: str) -> bool:
    """Whether code of this file is the user's."""
    file = file.replace(os.sep, "/")
    return not (file.startswith(("<", _STANDARD, _POSTMILL)) or any(folder in file for folder in _INSTALLED))
