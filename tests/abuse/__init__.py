"""What a hostile document, payload, task, worker or neighbour tries, and that it gets nowhere.

One test is one case: it passes when the product resists. An area is a module: `test_yaml.py` holds
the cases of the area `yaml`. `make abuse-json` runs them all and prints the sum by area.
"""
