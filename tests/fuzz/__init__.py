"""Bodies that nobody should send: mutations of valid requests to every route of a server.

``make fuzz`` sends a million of them (``python -m tests.fuzz``), ``make test`` some thousand.
"""
