"""Run a document and answer its questions in code."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from anew import OpenQuestion, open_engine

DOCUMENT = Path(__file__).with_name("ask.yaml")


class Decider:
    """Approves version 7 and leaves everything else to people."""

    name = "decider"

    async def ask(self, question: OpenQuestion) -> str | None:
        print(question.question, question.choices)
        return "yes" if "version 7" in question.question else None


async def main() -> None:
    with TemporaryDirectory() as folder:
        async with open_engine(f"{folder}/runs.db", interviewer=Decider()) as engine:
            run = await engine.run(DOCUMENT)
            print(await run.status(), "·", await run.result())


asyncio.run(main())
