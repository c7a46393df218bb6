"""The `anew` command: one module per command, imported only when that command is called."""
