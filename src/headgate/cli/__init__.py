"""The `headgate` command: each subcommand parses, makes one call and renders the answer."""
