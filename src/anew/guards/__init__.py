"""When a call may begin: the state of a dependency, and how it changes.

Everything here is a function of the rules, the state, what happened and the moment, so that a
simulation plays the very same guards. Knows no clock, no store and no run.
"""
