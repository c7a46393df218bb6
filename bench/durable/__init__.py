"""What durable runs cost on one machine: a SQLite file on a real disk, every commit flushed.

The workloads are those of the project's goals. Each stands beside other engines that do the same,
in turns; most of the minutes are the peers'.
"""
