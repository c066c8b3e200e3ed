"""Words of templates, put in when a template is compiled: there is one catalogue, and a list has hundreds of words."""

from __future__ import annotations

from collections.abc import Iterator

from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream

from postmill.console.frame.words import catalogue

_CALL = ("variable_begin", "name", "lparen", "string", "rparen", "variable_end")


class Translated(Extension):
    """Makes text of `{{ _("…") }}`; what is said with values in it, and what is handed on, stays a call."""

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        """The tokens, with text for each such call."""
        waiting: list[Token] = []
        for token in stream:
            waiting.append(token)
            if [one.type for one in waiting] != list(_CALL[: len(waiting)]) or (
                token.type == "name" and token.value != "_"
            ):
                yield from waiting[:-1]
                waiting = [waiting[-1]]
                if token.type != _CALL[0]:
                    yield waiting.pop()
            elif len(waiting) == len(_CALL):
                # As the extension i18n does it: formatted, and not escaped.
                yield Token(waiting[0].lineno, "data", catalogue().gettext(waiting[3].value) % {})
                waiting = []
        yield from waiting
