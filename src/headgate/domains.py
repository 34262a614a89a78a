"""Handlers of metadata domains, by the name users know: see ``plugins/domain_handlers``."""

from headgate.plugins.domain_handlers import *  # noqa: F403 — its ``__all__`` is what users may name
