"""The schema of what executes a task again: `paginate` and `poll`."""

from __future__ import annotations

from anew.languages.playbook.keys import PAGINATE_KEYS, POLL_KEYS
from anew.languages.schema.forms import ANYTHING, Schema, about, has, nullable, table
from anew.languages.schema.scalars import CONDITION, DELAY, FLAG, TEXT, WHOLE


def paginate_shape() -> Schema:
    shapes = {
        "next": about(
            "The cursor of the next page; null after the last. Without: count.", ANYTHING
        ),
        "param": about("The query parameter that takes the cursor.", TEXT),
        "url": about("true: the cursor is the address of the next page.", FLAG),
        "args": about("The argument that takes the cursor.", TEXT),
        "items": about("The items of a page.", ANYTHING),
        "into": about("The key of `ctx` that gets the items of all pages.", TEXT),
        "sink": about("A task, or the label of one, that is executed for each page.", ANYTHING),
        "max_pages": about("No more pages are read.", WHOLE),
        "stop_when": about("No page is read after one for which this holds.", CONDITION),
    }
    text = "Read page after page: the task is executed again while there is a next one."
    return about(text, nullable(table(PAGINATE_KEYS, shapes)))


def poll_shape() -> Schema:
    shapes = {
        "until": about("What is waited for.", CONDITION),
        "every": about("The wait before the task is executed again.", DELAY),
        "timeout": about("How long it is executed again; then the step fails.", DELAY),
        "fail_when": about("Fails the step at once.", CONDITION),
    }
    poll = {**table(POLL_KEYS, shapes), **has("until", "every")}
    return about("Execute the task again until something holds.", nullable(poll))
