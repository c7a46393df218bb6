"""The backend for when there is none: a text that depends on the request alone, and no network."""

from __future__ import annotations

from hashlib import sha256

from anew.tools.agent.backend import AgentReply, AgentRequest

_DIGEST_CHARS = 12


class SimulateBackend:
    """Answers every request at once, the same one always alike."""

    async def run(self, request: AgentRequest) -> AgentReply:
        place = request.place
        told = sha256(request.message.encode()).hexdigest()[:_DIGEST_CHARS]
        where = f"visit {place.visit}, attempt {place.attempt}"
        return AgentReply(text=f"[simulated] {request.node}, {where}, prompt {told}")

    async def close(self) -> None:
        """Nothing to give back."""
