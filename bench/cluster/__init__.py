"""What many processes cost: a server and two workers on one PostgreSQL, all on this machine.

PostgreSQL is durable (`fsync`, `synchronous_commit`), on the disk of the checkout. Workers reach
the runs over HTTP or by a connection of their own; both are measured, and stand beside other
engines on the same PostgreSQL, in turns.
"""
