"""A module whose import meets Ctrl-C in every process that another one has started."""

import os
import signal
from multiprocessing import current_process

if current_process().name != "MainProcess":
    os.kill(os.getpid(), signal.SIGINT)


def doubling(order):
    return lambda batch: [order * number for number in batch]
