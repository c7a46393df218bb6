"""What a store is: the log of every run, the queue of its jobs, and the catalog of programs.

This package is the contract, `stores/` has the implementations, and `anew.stores.contract` is the
suite every implementation must pass. A store keeps what it is given:
it knows events only as things to write down and read back, and decides nothing.

Two rules carry everything else:
1. A commit happens whole or not at all, and is on disk when it returns. The same commit once more
   changes nothing and is no error: who did not hear the answer may ask again.
2. A commit that answers a lease is refused once that lease is lost (`StaleLease`), and one whose
   run has moved on is refused too (`StaleVersion`).
"""

from anew.engine.statuses import WaitReason
from anew.errors import KeyTaken, StaleLease, StaleVersion, StoreError, StoreGone
from anew.store.artifacts import Artifacts, NewArtifact, StoredArtifact
from anew.store.catalog import SealedCredential, StoredProgram
from anew.store.commits import (
    Blob,
    Commit,
    Failure,
    NewRun,
    PackedCommit,
    PackedEvents,
    PackedRun,
    RunHead,
    Snapshot,
    StoredEvent,
    StoredRun,
)
from anew.store.guards import OPERATOR_SCOPE, GuardStates, GuardWrite, StoredGuard
from anew.store.jobs import (
    DEFAULT_POOL,
    WORKERS_KEPT_SECONDS_MAX,
    HeldJob,
    JobRef,
    JobRow,
    Lease,
    LeaseResult,
    NewJob,
    Park,
    PoolLoad,
    Presence,
    RunId,
    WorkerKind,
)
from anew.store.protocols import (
    ANY_POOL,
    Archive,
    Catalog,
    Database,
    JobQueue,
    Notice,
    NoticeListener,
    Notices,
    Roster,
    RunLog,
    Statistics,
    Store,
    Vault,
)
from anew.store.runs import (
    HIDDEN_KEYS,
    PROGRAMS_OF_FAILURE_MAX,
    FailedRunGroup,
    FailureFilter,
    RunFilter,
    RunPoint,
    RunRow,
)

# What a store raises is named with the rest of its contract; `errors.py` has the tree.
__all__ = [
    "ANY_POOL",
    "DEFAULT_POOL",
    "HIDDEN_KEYS",
    "OPERATOR_SCOPE",
    "PROGRAMS_OF_FAILURE_MAX",
    "WORKERS_KEPT_SECONDS_MAX",
    "Archive",
    "Artifacts",
    "Blob",
    "Catalog",
    "Commit",
    "Database",
    "FailedRunGroup",
    "Failure",
    "FailureFilter",
    "GuardStates",
    "GuardWrite",
    "HeldJob",
    "JobQueue",
    "JobRef",
    "JobRow",
    "KeyTaken",
    "Lease",
    "LeaseResult",
    "NewArtifact",
    "NewJob",
    "NewRun",
    "Notice",
    "NoticeListener",
    "Notices",
    "PackedCommit",
    "PackedEvents",
    "PackedRun",
    "Park",
    "PoolLoad",
    "Presence",
    "Roster",
    "RunFilter",
    "RunHead",
    "RunId",
    "RunLog",
    "RunPoint",
    "RunRow",
    "SealedCredential",
    "Snapshot",
    "StaleLease",
    "StaleVersion",
    "Statistics",
    "Store",
    "StoreError",
    "StoreGone",
    "StoredArtifact",
    "StoredEvent",
    "StoredGuard",
    "StoredProgram",
    "StoredRun",
    "Vault",
    "WaitReason",
    "WorkerKind",
]
