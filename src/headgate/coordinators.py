"""Commit coordinators: see ``plugins/coordinators``."""

from headgate.plugins.coordinators import *  # noqa: F403 — its ``__all__`` is what users may name
