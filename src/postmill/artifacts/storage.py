"""The store that the settings name, opened when it is needed, and the rules that they have for it."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from postmill.domain.errors import ArtifactStoreMissing
from postmill.domain.settings_artifacts import ArtifactSettings

if TYPE_CHECKING:
    from postmill.artifacts.store import Store

INCOMING = "incoming"
"""Folder of what is still being written."""

NO_STORE = (
    "no store of artifacts is configured here: set artifacts.url, e.g. to file:///srv/artifacts"
    " (postmill up brings one along)"
)


class Storage:
    """One for a process; safe for threads, and across forks, which open it anew.

    Args:
        settings: where the store is, and what it takes.
    """

    def __init__(self, settings: ArtifactSettings) -> None:
        self.settings = settings
        self._lock = threading.Lock()
        self._store: tuple[int, Store] | None = None

    @property
    def configured(self) -> bool:
        """Whether there is a store at all."""
        return self.settings.address is not None

    def opened(self) -> Store:
        """The store. Blocks.

        Raises:
            ArtifactStoreMissing: none is configured, or a library that it needs is missing.
            ArtifactStoreFailed: it cannot be opened.
        """
        address = self.settings.address
        if address is None:
            raise ArtifactStoreMissing(NO_STORE)
        with self._lock:
            if self._store is None or self._store[0] != os.getpid():
                self._store = os.getpid(), _open(address, self.settings)
            return self._store[1]


def _open(address: str, settings: ArtifactSettings) -> Store:
    try:
        from postmill.artifacts.store import Store  # fsspec, which an extra brings along
    except ImportError:
        raise ArtifactStoreMissing("artifacts need an extra: pip install 'postmill[artifacts]'") from None
    return Store(address, settings.storage_options)
