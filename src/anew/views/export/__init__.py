"""A run as a directory of files: what `anew export` writes. The log stays the truth."""
