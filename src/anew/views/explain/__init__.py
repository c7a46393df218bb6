"""Why a run did what it did, in sentences derived from its log and its program.

`explaining.explanation` is the door. Decides nothing: every sentence tells what an event says, and
adds where in the document the rule, arc or gate stands that was the reason.
"""
