"""A FastAPI application whose orders survive a crash of the server: uvicorn app:app"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

import shop_tools
from fastapi import Depends, FastAPI, HTTPException, Request
from pydantic import BaseModel

from anew import Engine, RunFailedError, open_engine

CHECKOUT = Path(__file__).with_name("checkout.yaml")


class Order(BaseModel):
    order: str
    total: float


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    async with open_engine(tools=shop_tools) as engine:
        await engine.resume_all()  # what a crash or a deploy has interrupted
        app.state.engine = engine
        yield


def engine_of(request: Request) -> Engine:
    return request.app.state.engine


app = FastAPI(lifespan=lifespan)
TheEngine = Annotated[Engine, Depends(engine_of)]


@app.post("/orders", status_code=202)
async def place(order: Order, engine: TheEngine) -> dict[str, str]:
    """Start the checkout. A client that sends its order twice gets one run."""
    run = await engine.start(CHECKOUT, order, key=f"order-{order.order}")
    return {"run": str(run)}


@app.get("/orders/{run}")
async def show(run: int, engine: TheEngine) -> dict[str, str]:
    """Wait for an order, two seconds at most."""
    try:
        result = await engine.result(run, timeout=2)
    except TimeoutError:
        return {"status": await engine.status(run)}
    except RunFailedError as failed:
        raise HTTPException(409, failed.error["message"]) from failed
    return {"status": "done", "result": result}
