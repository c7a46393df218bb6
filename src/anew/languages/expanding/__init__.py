"""What a document compiles to, as a canonical playbook in which everything implicit is written out.

`expanded.expand` is the door. The document is first brought to the canonical form (migration, or
the translation of a graph), compiled, and the Program is then written part by part: so the text
says what the engine will do, not what the author happened to write.
"""
