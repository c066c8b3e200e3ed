"""A planning as a PDF, drawn page by page."""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO

from reportlab.lib.pagesizes import A4
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from examples.planner.statements import Row

LEFT, TOP, LINE = 50.0, 780.0, 17.0
COLUMNS = ((LEFT, 105.0), (LEFT + 110, 210.0), (LEFT + 325, 165.0))
"""Where each column begins, and how wide it is, in points."""
FONT, SIZE = "Helvetica", 9.0


class PlanningPdf:
    """One document. `invariant`: the same planning makes the same bytes, so that a checksum says something."""

    def __init__(self, title: str) -> None:
        self._buffer = BytesIO()
        self._canvas = Canvas(self._buffer, pagesize=A4, invariant=True)
        self._canvas.setTitle(title)
        self._title = title
        self._number = 0

    def add(self, missions: Iterable[Row]) -> None:
        """One more page."""
        self._number += 1
        canvas = self._canvas
        canvas.setFont("Helvetica-Bold", 14)
        canvas.drawString(LEFT, TOP + 20, _fitting(self._title, 430.0, "Helvetica-Bold", 14))
        canvas.setFont(FONT, SIZE)
        canvas.drawRightString(A4[0] - LEFT, TOP + 20, f"page {self._number}")
        for number, one in enumerate(missions, 1):
            cells = (f"{one['starts_at']:%Y-%m-%d %H:%M}", one["title"], one["name"] or "open")
            for (x, width), cell in zip(COLUMNS, cells, strict=True):
                canvas.drawString(x, TOP - number * LINE, _fitting(cell, width, FONT, SIZE))
        canvas.showPage()

    def finished(self) -> bytes:
        """The whole document; one empty page where nothing was added."""
        if not self._number:
            self.add(())
        self._canvas.save()
        return self._buffer.getvalue()


def _fitting(text: str, width: float, font: str, size: float) -> str:
    if stringWidth(text, font, size) <= width:
        return text
    while text and stringWidth(text + "…", font, size) > width:
        text = text[:-1]
    return text + "…"
