"""The page for people: the files that `web/` is built into, and who is given them."""
