"""Postmill's own settings, as its commands read them."""

from __future__ import annotations

from postmill.domain.settings_load import load

__all__ = ["load"]
