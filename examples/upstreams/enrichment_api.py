"""The stand-in for a slow enrichment service: `python -m examples.upstreams.enrichment_api --script usual`.

    POST /v1/enrichments  {"text": "…"}  →  {"language", "title", "key_phrases", "summary"}

It does the work for real; slow and moody it is by its script. The first line on stdout is the address. It
ends when its standard input does, so it never outlives the program that started it.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from examples.upstreams.process import serve
from examples.upstreams.script import SCRIPTS, Script, load_script
from examples.upstreams.scripted import ScriptedServer
from examples.upstreams.text_analysis import analyse

PATH = "/v1/enrichments"
MOST_CHARACTERS = 20_000


def enrich(body: bytes) -> tuple[int, object]:
    """Status and answer of one request; 422 for what will never become an enrichment."""
    try:
        request = json.loads(body)
        text = request["text"]
    except (ValueError, KeyError, TypeError):
        return 422, {"error": "bad_request", "detail": 'send {"text": "…"}'}
    if not isinstance(text, str) or not text.strip():
        return 422, {"error": "empty_text"}
    if len(text) > MOST_CHARACTERS:
        return 413, {"error": "text_too_long", "most_characters": MOST_CHARACTERS}
    return 200, asdict(analyse(text))


def server(script: Script, *, key: str | None = None, port: int = 0) -> ScriptedServer:
    """The stand-in on a local port, not yet serving; its language models are loaded."""
    analyse("The first caller would wait for the models to be loaded. So they are loaded before it comes.")
    return ScriptedServer(PATH, enrich, script, key=key, port=port)


def main() -> None:
    """Serve until standard input ends or a signal comes."""
    parser = argparse.ArgumentParser(
        prog="enrichment_api", description="stand-in for a slow enrichment service"
    )
    parser.add_argument("--script", default="usual", help=f"{', '.join(SCRIPTS)}, or JSON (default: usual)")
    parser.add_argument("--key", help="bearer token that callers must send (default: none)")
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (default: any free one)")
    options = parser.parse_args()
    try:
        script = load_script(options.script)
    except ValueError as fault:
        parser.error(str(fault))
    api = server(script, key=options.key, port=options.port)
    serve(api, api.url)


if __name__ == "__main__":
    main()
