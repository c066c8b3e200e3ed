"""The archive that the settings name, opened when it is needed."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from postmill.domain.errors import ArchiveMissing
from postmill.domain.settings_archive import ArchiveSettings

if TYPE_CHECKING:
    from postmill.archive.place import Place

NO_ARCHIVE = "no cold archive is configured here: set archive.url, e.g. to file:///srv/archive"


class ArchiveStorage:
    """One for a process; safe for threads, and across forks, which open it anew.

    Args:
        settings: where the archive is, and what its files are.
    """

    def __init__(self, settings: ArchiveSettings) -> None:
        self.settings = settings
        self._lock = threading.Lock()
        self._place: tuple[int, Place] | None = None

    @property
    def configured(self) -> bool:
        """Whether there is an archive at all."""
        return self.settings.address is not None

    def opened(self) -> Place:
        """The archive. Blocks.

        Raises:
            ArchiveMissing: none is configured, or a library that it needs is missing.
            ArchiveFailed: it cannot be opened.
        """
        address = self.settings.address
        if address is None:
            raise ArchiveMissing(NO_ARCHIVE)
        with self._lock:
            if self._place is None or self._place[0] != os.getpid():
                self._place = os.getpid(), _open(address, self.settings)
            return self._place[1]


def _open(address: str, settings: ArchiveSettings) -> Place:
    try:
        from postmill.archive.place import Place  # fsspec, which an extra brings along
    except ImportError:
        raise ArchiveMissing("the archive needs an extra: pip install 'postmill[archive]'") from None
    return Place(address, settings.storage_options)
