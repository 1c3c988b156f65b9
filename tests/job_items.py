"""Functions that other processes can find by name."""

from __future__ import annotations

import os
import signal


def square(number: int) -> int:
    if number < 0:
        raise ValueError("negative")
    return number * number


def die_at_three(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number
