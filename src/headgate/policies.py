"""Policies that commits must satisfy, by the name users know: see ``plugins/policies``."""

from headgate.plugins.policies import *  # noqa: F403 — its ``__all__`` is what users may name
