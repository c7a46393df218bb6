"""The words templates reserve (SEMANTICS 2.9); the checker and the engine read them here."""

from __future__ import annotations

RESERVED = frozenset(
    "workload keychain ctx iter args input outcome output event execution_id run_id job rand now "
    "_task _prev _attempt _origin _step _visit _retries _verdicts _branch _began".split()
)

# Readable in the conditions of a retry block only.
RETRY_WORDS = frozenset("success status_code error data result attempt node_id".split())
