"""Other engines, each in a virtual environment of its own, doing the same work as Anew.

A script here runs in its peer's environment: it knows the standard library and that peer only.
"""
