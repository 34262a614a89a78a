"""Tables by name: made, renamed, dropped, brought back, purged; and where they live."""
