"""One language said in another: DOT graphs as playbooks, and playbooks as DOT graphs.

What the other language cannot say is a finding, never silence.
"""
