"""Keep what is told of a loop's iterations, and tell the odd ones in full, the rest in one line."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, field

from anew.views.explain.paragraph import About, Paragraph
from anew.views.routing_words import listed
from anew.views.wording import counted

# A loop of so few iterations is told whole; of a longer one, so many of those that had trouble.
ITERATIONS_TOLD_MAX = 5
NUMBERS_SHOWN = 10


class Iteration(Struct):
    """`is_odd`: something happened in it beside executions that went well at once."""

    paragraphs: list[Paragraph] = field(default_factory=list)
    is_odd: bool = False
    has_failed: bool = False
    has_ended: bool = False


class LoopStory(Struct):
    opening: Paragraph
    total: int
    iterations: dict[int, Iteration] = field(default_factory=dict)

    def iteration(self, number: int) -> Iteration:
        return self.iterations.setdefault(number, Iteration())

    def paragraphs(self) -> Iterator[Paragraph]:
        """The loop, what is worth telling of its iterations, and a line for all others."""
        yield self.opening
        told = self._shown()
        for number in told:
            yield from self.iterations[number].paragraphs
        rest = [number for number in sorted(self.iterations) if number not in told]
        if rest:
            yield self._rest(rest)

    def _shown(self) -> list[int]:
        numbers = sorted(self.iterations)
        if self.total <= ITERATIONS_TOLD_MAX:
            return numbers
        return [n for n in numbers if self.iterations[n].is_odd][:ITERATIONS_TOLD_MAX]

    def _rest(self, numbers: list[int]) -> Paragraph:
        even = [self.iterations[n] for n in numbers if not self.iterations[n].is_odd]
        succeeded = sum(iteration.has_ended for iteration in even)
        running = len(even) - succeeded
        odd = [n for n in numbers if self.iterations[n].is_odd]
        failed = sum(self.iterations[n].has_failed for n in odd)
        left = [part for n in numbers for part in self.iterations[n].paragraphs]
        sentences = []
        if succeeded:
            sentences.append(f"{counted(succeeded, 'iteration')} succeeded without a retry.")
        if running:
            verb = "has" if running == 1 else "have"
            sentences.append(f"{counted(running, 'iteration')} {verb} not ended yet.")
        if odd:
            named = listed([str(n) for n in odd], most=NUMBERS_SHOWN)
            ends = f", {failed} failed" if failed else ""
            sentences.append(f"{counted(len(odd), 'more iteration')} had trouble{ends}: {named}.")
        opening = self.opening
        return Paragraph(
            about=About.LOOP,
            head=f"{opening.step}, the other iterations",
            at=left[-1].at if left else opening.at,
            sentences=sentences,
            events=[seq for part in left for seq in part.events],
            step=opening.step,
            visit=opening.visit,
        )
