"""Run every abuse case, and print how many got through, by area, as one JSON object."""

from __future__ import annotations

import json
import os
import sys

import pytest

from tests.abuse.tally import ABUSE, Tally


def main(arguments: list[str]) -> int:
    # What pytest says goes where progress belongs; standard output is for the sum alone.
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as output:
        os.dup2(2, 1)
        tally = Tally()
        status = pytest.main([str(ABUSE), "-q", *arguments], plugins=[tally])
        print(json.dumps(tally.summary(), indent=2), file=output)
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
