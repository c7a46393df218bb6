"""Views of a log: what people and other programs read, derived and never stored."""
