"""Combinatorial games far past published sizes: Grundy values, P-positions and periods as NumPy arrays.

Every function takes the same four options:

- threads: how many threads to use; by default all that the process may use.
- kernel: "operation=kernel" names the kernel of an operation, for several operations separated by commas. By default it is the
  one with the least predicted time. `kernels` lists them.
- force: whether to begin a run that is predicted to take longer than a day.
- progress: a function that is called about twenty times a second with the name of the operation that runs, the steps done and
  their number, and once more at the end. If it raises an exception, the run ends.

The other threads of Python go on during a run. Ctrl-C ends a run in the main thread alone: Python handles signals in no other. In any
thread, an exception from `progress` ends it.

Every function raises `UsageError` for a refused question, `OutOfMemoryError` before a run that would not fit in the memory that is
free, and `RunError` if a run fails. All three are of the class `Error`.
"""

from typing import NamedTuple

from ._nimlanes import __version__, family, first_heaps, grundy_values, kernels, period, positions, solve, zeros

__all__ = [
    "Error",
    "Family",
    "Kernel",
    "OutOfMemoryError",
    "Period",
    "Repeating",
    "RunError",
    "Solution",
    "UsageError",
    "__version__",
    "family",
    "first_heaps",
    "grundy_values",
    "kernels",
    "period",
    "positions",
    "solve",
    "zeros",
]


class Error(Exception):
    """The base of every exception of this package."""


class UsageError(Error, ValueError):
    """There is no such game, option or kernel, or the limit is too large. The message names what is allowed."""


class OutOfMemoryError(Error, MemoryError):
    """The run would not fit in the memory that is free. The message names the memory it needs, and mostly a limit that would fit."""


class RunError(Error, RuntimeError):
    """The run began and could not be completed."""


class Period(NamedTuple):
    """A proved period: heap n + period has the value of heap n, for all n >= preperiod."""

    period: int
    """The length of the repetition, in heaps."""
    preperiod: int
    """The first heap from which it holds."""
    heaps: int
    """The number of heaps, from 0 on, whose values prove it."""


class Repeating(NamedTuple):
    """A subtraction set and its proved period."""

    moves: tuple[int, ...]
    """Its moves, ascending."""
    period: int
    """The length of the repetition, in heaps."""
    preperiod: int
    """The first heap from which it holds."""


class Family(NamedTuple):
    """The proved periods of a family of subtraction sets."""

    sets: int
    """The number of sets."""
    longest_period: int
    """In heaps."""
    longest_preperiod: int
    """In heaps; 0 if all sets are purely periodic."""
    sum_of_periods: int
    """Over all sets."""
    purely_periodic: int
    """The number of sets with preperiod 0."""
    largest_value: int
    """The largest Grundy value."""
    longest_periods: list[Repeating]
    """Sets with the longest periods, longest first, up to `top`."""
    longest_preperiods: list[Repeating]
    """The same for preperiods, of sets that are not purely periodic."""
    periods: dict[int, int]
    """How many sets have each period, by ascending period."""


class Solution(NamedTuple):
    """A solved game."""

    answer: int
    """The answer to the game's question. Python prints over 4300 digits only after `sys.set_int_max_str_digits(0)`."""
    details: dict[str, int | float]
    """Further numbers, by name."""
    kernels: dict[str, str]
    """The kernel that was used for each operation."""


class Kernel(NamedTuple):
    """A kernel: one of the ways to perform an operation."""

    operation: str
    name: str
    tier: str
    """The instruction set that it needs: "portable", "avx2", ..."""
    claim: str
    """"exact" if its answers are proved, or "observed". An observed kernel runs only if it is named."""
    summary: str
    obstacle: str | None
    """Why it cannot run here, if so."""
