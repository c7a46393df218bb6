"""The words templates reserve (playbook.md#names-a-template-reads).

The checker and the engine read them here.
"""

from __future__ import annotations

RESERVED = frozenset(
    "workload keychain ctx iter args input outcome output event execution_id run_id job rand now "
    "_task _prev _attempt _origin _step _visit _retries _verdicts _branch _began".split()
)

# Readable in the tasks of a loop only, beside the name of its iterator.
LOOP_NAMES = frozenset({"_index", "loop_index", "_total"})

# Readable in the conditions of a retry block only.
RETRY_WORDS = frozenset("success status_code error data result attempt node_id".split())

# Readable where a visit ends, below all other names.
RESULT_WORDS = frozenset({"result", "response", "error"})

# Fields of credentials that may be shown: said in error messages and looked at in logs, and of no
# use to a thief without the rest. All others are secret, those of types nobody has heard of too.
PUBLIC_CREDENTIAL_FIELDS = frozenset(
    "host hostname port user username database dbname db_host db_port db_user db_name schema "
    "ssl sslmode ssl_mode tls verify timeout connect_timeout application_name driver "
    "type auth_type token_type region account project bucket scope scopes header in prefix "
    "description".split()
)
