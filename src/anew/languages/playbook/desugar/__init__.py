"""Bring a playbook of any dialect to its canonical form, before anything is compiled.

`document.desugar` is the door. It takes the nodes of a document and gives those of the canonical
one, which are the same objects wherever nothing has to change. Everything that only the spelling
is to blame for is reported here, at the place where the author wrote it.
"""
