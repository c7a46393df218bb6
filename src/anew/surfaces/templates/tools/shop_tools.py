"""Tools of a shop: kinds of tasks that are Python functions."""

from dataclasses import dataclass

from anew import Call, tool


class CardDeclined(Exception):
    """The bank refuses the card, and will refuse it again."""


@dataclass
class Receipt:
    order: str
    total: float
    charge: str


@tool
def charge(order: str, total: float, call: Call) -> Receipt:
    """Charge the customer of an order."""
    if total > 1_000:
        raise CardDeclined(f"{total} is more than the card allows")
    # The same key in every attempt: a bank that knows it charges once.
    return Receipt(order, total, charge=f"ch-{call.idempotency_key[:8]}")


@tool
async def ship(order: str, address: str = "Warehouse 1") -> str:
    """Send an order to its customer."""
    return f"{order} is on its way to {address}"
