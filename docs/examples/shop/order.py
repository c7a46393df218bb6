"""Run the checkout from a script. Started again with the same key it continues, and pays once."""

from dataclasses import dataclass

import shop_tools

from anew import RunFailedError, open_engine


@dataclass
class Order:
    order: str
    total: float


with open_engine("shop.db", tools=shop_tools) as engine:
    run = engine.run("checkout.yaml", Order("A-1", 12.5), key="order-A-1")
    print(run.status(), "·", run.result(str))

    declined = engine.run("checkout.yaml", Order("A-2", 5_000))
    try:
        declined.result()
    except RunFailedError as failed:
        print("failed ·", failed.error["message"])
    again = engine.fork(declined, step="pay", input={"total": 900})
    print("forked ·", again.result(timeout=10))
    print(sorted(row.status.value for row in engine.list(program="checkout")))
