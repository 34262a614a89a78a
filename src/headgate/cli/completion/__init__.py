"""What a shell offers behind a TAB: commands, options and the names of tables."""
