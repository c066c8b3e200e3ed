"""What the directory is told by its environment."""

from __future__ import annotations

from datetime import timedelta

from pydantic import BaseModel, ConfigDict, Field

VARIABLES = {
    "half_life": "RANK_HALF_LIFE_DAYS",
    "link_timeout": "LINK_TIMEOUT",
    "link_failures": "LINK_FAILURES",
    "link_requests": "LINK_REQUESTS",
    "sitemap_folder": "SITEMAP_FOLDER",
    "site_url": "SITE_URL",
}


class DirectorySettings(BaseModel):
    """Of one process."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    half_life: float = Field(default=14.0, gt=0)
    """Days after which a vote or a click counts half."""
    link_timeout: float = Field(default=20.0, gt=0)
    """Seconds of one request for a site, redirects included."""
    link_failures: int = Field(default=3, ge=1)
    """So many failed checks in a row make a site dead; one success brings it back."""
    link_requests: int = Field(default=20, ge=1)
    """Most requests for sites at once, of one worker process."""
    sitemap_folder: str = "sitemaps"
    """Where sitemaps are written, and served from."""
    site_url: str = Field(default="https://homepage.villagecompute.com", pattern=r"^https?://[^/?#]+$")
    """Where the public knows the application, without a path."""

    @property
    def decay(self) -> timedelta:
        """The half-life as time."""
        return timedelta(days=self.half_life)
