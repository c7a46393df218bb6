"""The pure engine: what happened (events), what is true now (state), what happens next (decide).

No clock, ids, chance, logging, await or I/O in here: all that varies comes in as an argument and
goes into an event.
"""
