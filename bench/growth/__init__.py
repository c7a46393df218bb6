"""How the cost of a transition grows: `python -m bench.growth` measures it, apart from `bench`.

A curve is one thing that grows (the length of a run, the rows of a database) and the CPU time of a
transition at each of its sizes. `curves.py` has them all.
"""
