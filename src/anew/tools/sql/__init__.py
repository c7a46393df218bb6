"""What the tools that speak SQL share: inputs, parameters, rows, values and failures.

Knows no database. The tools themselves are `postgres`, `duckdb` and `sqlite` beside this folder.
"""
