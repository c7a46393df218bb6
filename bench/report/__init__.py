"""`docs/benchmarks.md` and its plots, made from what `python -m bench` and `bench.growth` wrote."""
