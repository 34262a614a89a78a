"""The catalog behind HTTP: one commit log, and three APIs to it.

``routes/own`` speaks the ports themselves, ``routes/delta`` and ``routes/unity`` what other engines speak.
"""
