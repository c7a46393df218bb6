"""What follows from what a process is: alone, a server or a worker."""

from anew.engine.moments import LAST_MOMENT, NANOSECONDS
from anew.runtime.roles import ALONE, ProcessRole
from anew.store import ANY_POOL


def test_a_process_alone_keeps_its_jobs_and_reports_a_store_that_fails():
    assert not ALONE.is_shared
    assert not ALONE.is_lasting
    assert ALONE.lease_end(5) == LAST_MOMENT


def test_a_command_among_others_has_leases_that_end_and_runs_of_its_own():
    role = ProcessRole("command", 30.0)
    assert role.is_shared
    assert not role.is_lasting
    assert role.lease_end(5) == 5 + 30 * NANOSECONDS


def test_who_works_on_all_runs_of_a_shared_store_waits_for_it():
    assert ProcessRole("server", 30.0, works_on_all=True).is_lasting
    assert not ProcessRole("command", None, works_on_all=True).is_lasting


def test_jobs_of_other_pools_are_for_others():
    role = ProcessRole("worker", 30.0, works_on_all=True, pools=("gpu",))
    assert [role.takes(pool) for pool in ("gpu", ANY_POOL, "default")] == [True, True, False]
    assert ALONE.takes("default")
