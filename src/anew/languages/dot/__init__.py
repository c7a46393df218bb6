"""DOT graphs, in both dialects: read, checked, and compiled to a Program."""
