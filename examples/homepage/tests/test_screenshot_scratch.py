"""The folder of a browser: wherever temporary files go on a machine, Chromium can work in it."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from examples.homepage.screenshots.scratch import scratch


@pytest.mark.parametrize("length", [10, 100])
def test_a_socket_of_chromium_fits_into_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, length: int
) -> None:
    """The system takes 107 characters of a socket's address; Chromium ends without a word where there are more."""
    root = tmp_path / ("x" * length)
    root.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(root))
    with scratch() as folder:
        place = folder / "org.chromium.Chromium.123456"
        place.mkdir()
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(place / "SingletonSocket"))
    assert not folder.exists()
