"""A catalog behind HTTP, as its client sees it: every port, over the operations of ``catalog.wire``."""
