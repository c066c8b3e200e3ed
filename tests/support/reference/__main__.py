"""Write every generated file and part anew."""

from __future__ import annotations

from tests.support.reference.pages import generated, written

if __name__ == "__main__":
    for file, text in [(file, written(file)) for file in generated()]:
        file.write_text(text, encoding="utf-8")
