"""Write one of the files about what Anew is made of."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from supply.hashing import write_hashes
from supply.notice import write_notice
from supply.sbom import write_sbom

ACTIONS: Mapping[str, Callable[[], str]] = {
    "hashes": write_hashes,
    "notice": write_notice,
    "sbom": write_sbom,
}


def main(words: list[str]) -> int:
    if len(words) != 1 or words[0] not in ACTIONS:
        print(f"usage: python -m supply {'|'.join(ACTIONS)}", file=sys.stderr)
        return 2
    print(ACTIONS[words[0]]())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
