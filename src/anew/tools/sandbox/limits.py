"""How much a process in a sandbox may use; the kernel enforces it."""

from __future__ import annotations

from msgspec import Struct

from anew.tools.settings import whole_setting

# Address space: interpreters and compilers fit, and one task does not empty the machine.
SANDBOX_MEMORY_BYTES_MAX = 4 << 30
# Of all tasks of one user together, because that is how the kernel counts.
SANDBOX_PROCESSES_MAX = 256
# Time on a core, so that a task that hangs without a timeout ends all the same.
SANDBOX_CPU_SECONDS_MAX = 3600
SANDBOX_FILE_BYTES_MAX = 1 << 30


class SandboxLimits(Struct, frozen=True):
    """Each of one process, but `processes`."""

    memory_bytes: int = SANDBOX_MEMORY_BYTES_MAX
    processes: int = SANDBOX_PROCESSES_MAX
    cpu_seconds: int = SANDBOX_CPU_SECONDS_MAX
    file_bytes: int = SANDBOX_FILE_BYTES_MAX

    def arguments(self) -> list[str]:
        """For `prlimit`; a core dump would hold the task's inputs."""
        return [
            f"--as={self.memory_bytes}",
            f"--nproc={self.processes}",
            f"--cpu={self.cpu_seconds}",
            f"--fsize={self.file_bytes}",
            "--core=0",
        ]


def limits_set() -> SandboxLimits:
    """As the operator wants them."""
    return SandboxLimits(
        whole_setting("SANDBOX_MEMORY_BYTES_MAX", SANDBOX_MEMORY_BYTES_MAX),
        whole_setting("SANDBOX_PROCESSES_MAX", SANDBOX_PROCESSES_MAX),
        whole_setting("SANDBOX_CPU_SECONDS_MAX", SANDBOX_CPU_SECONDS_MAX),
        whole_setting("SANDBOX_FILE_BYTES_MAX", SANDBOX_FILE_BYTES_MAX),
    )
