"""How a run is refused, watched and stopped, and what goes on beside it."""

import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

import nimlanes


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda: nimlanes.grundy_values("kayle", 9), "unknown game `kayle`; did you mean `kayles`? allowed: nim, "),
        (lambda: nimlanes.grundy_values("2.6", 9), "`2` in front of the point is not a digit of a game; allowed: 0, 4, 8, C"),
        (lambda: nimlanes.zeros("kayles", 9), "unknown move set `kayles`; allowed: squares, "),
        (lambda: nimlanes.zeros([], 9), "the move list is empty; give at least one positive number"),
        (lambda: nimlanes.zeros([0, 1], 9), "the move list contains 0; moves are positive"),
        (lambda: nimlanes.zeros([4, 1], 9), "the move list is not ascending: 4 comes before 1"),
        (lambda: nimlanes.grundy_values([1.5], 9), "`1.5` in the move list is not a whole number below 2^64"),  # type: ignore[list-item]
        (lambda: nimlanes.zeros("squares", -1), "limit `-1` is too small; at least 0"),
        (lambda: nimlanes.zeros("squares", 2**64), "limit `18446744073709551616` is too large; at most 18446744073709551615"),
        (lambda: nimlanes.zeros("squares", 10**5000), "limit `2^16609` is too large; at most 18446744073709551615"),
        (lambda: nimlanes.zeros("squares", -(10**5000)), "limit `-2^16609` is too small; at least 0"),
        (lambda: nimlanes.zeros([1, 10**5000], 9), "`2^16609` in the move list is not a whole number below 2^64"),
        (lambda: nimlanes.grundy_values("squares", 2**40), "size 1099511627776 is too large for mex_subtraction; at most 2147483648"),
        (lambda: nimlanes.zeros("squares", 9, threads=-1), "threads `-1` is too small; at least 0"),
        (lambda: nimlanes.zeros("squares", 9, threads=0), "no thread to run on; at least one is needed"),
        (lambda: nimlanes.zeros("squares", 9, kernel="sieve"), "`sieve` is not OPERATION=KERNEL, as in mex_subtraction=stamp"),
        (lambda: nimlanes.zeros("squares", 9, kernel="mex_zeros=no"), "unknown kernel `no` of mex_zeros; "),
        (lambda: nimlanes.kernels("mex_zero"), "unknown operation `mex_zero`; did you mean `mex_zeros`?"),
        (lambda: nimlanes.solve("stone-gam", 9), "unknown game `stone-gam`; did you mean `stone-game`?"),
        (lambda: nimlanes.solve("stone-game", 9, heaps=4), "stone-game has no setting `heaps`; allowed: rule"),
        (lambda: nimlanes.solve("nim-square", 9, heaps=-1), "heaps `-1` is too small; at least 0"),
        (lambda: nimlanes.solve("nim-square", 9, heaps=10**5000), "heaps `2^16609` is too large; at most 10000"),
        (lambda: nimlanes.solve("nim-square", 9, heaps=False), "heaps `False` is not a whole number; "),
        (lambda: nimlanes.solve("stone-game", 9, exact=False), "stone-game has no setting `exact`; allowed: rule"),
        (lambda: nimlanes.family(64), "64 is not a move of a family; allowed: 1 to 63"),
        (lambda: nimlanes.family(-1), "largest_move `-1` is too small; at least 0"),
        (lambda: nimlanes.family(9, with_moves=[9]), "9 is not below the largest move 9; allowed: smaller moves"),
        (lambda: nimlanes.family(9, with_moves=[2, 2]), "2 is named twice as a move; once is allowed"),
        (lambda: nimlanes.family(9, with_moves=[2], symmetric=True), "symmetric sets have no with_moves; give one of the two"),
        (lambda: nimlanes.family(9, top=0), "top `0` is too small; at least 1"),
        (lambda: nimlanes.positions("nim-square", 9), "nim-square is solved by counting; its P-positions are not listed"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused_in_the_words_of_the_library(ask: Callable[[], object], says: str) -> None:
    with pytest.raises(nimlanes.UsageError) as raised:
        ask()
    assert str(raised.value).startswith(says) and "\n" not in str(raised.value)
    assert isinstance(raised.value, ValueError) and isinstance(raised.value, nimlanes.Error)


def test_what_is_no_such_argument_is_a_type_error() -> None:
    ask: Any = nimlanes.zeros
    for arguments in [(7, 9), ("squares", "9"), ("squares", 9.0)]:
        with pytest.raises(TypeError):
            ask(*arguments)
    with pytest.raises(TypeError, match="unexpected keyword argument `thread`; allowed: threads, kernel, force, progress"):
        ask("squares", 9, thread=None)


def test_a_run_that_does_not_fit_in_memory_does_not_begin() -> None:
    with pytest.raises(nimlanes.OutOfMemoryError, match="mex_octal needs .* here and .* are free; .* would fit") as raised:
        nimlanes.grundy_values("kayles", 2**48)
    assert isinstance(raised.value, MemoryError)


def test_a_run_of_more_than_a_day_must_be_asked_for() -> None:
    with pytest.raises(nimlanes.UsageError, match="is predicted to take .*, more than a day; force=True allows it$"):
        nimlanes.grundy_values("0.8", 10**7)


def test_a_run_that_fails_says_why() -> None:
    with pytest.raises(nimlanes.RunError, match="a Grundy value passes 65535") as raised:
        nimlanes.grundy_values("1..70000", 70_000)
    assert isinstance(raised.value, RuntimeError)


def go_on(progress: Callable[[str, int, int], object] | None = None) -> None:
    """A run without an end that anyone waits for."""
    nimlanes.period("0.106", 10**12, force=True, progress=progress)


def test_ctrl_c_ends_a_run() -> None:
    pressed = list[float]()

    def press() -> None:
        pressed.append(time.monotonic())
        signal.raise_signal(signal.SIGINT)

    threading.Timer(0.3, press).start()
    with pytest.raises(KeyboardInterrupt):
        go_on()
    assert time.monotonic() - pressed[0] < 1


def test_progress_is_told_to_the_end() -> None:
    told = list[tuple[str, int, int]]()
    nimlanes.grundy_values("squares", 500_000, kernel="mex_subtraction=stamp", progress=lambda *now: told.append(now))
    assert told == sorted(told) and told[-1] == ("mex_subtraction", 500_001, 500_001)
    assert len(told) > 2 and {steps for _, _, steps in told} == {500_001}


def test_an_exception_of_the_progress_ends_a_run() -> None:
    def stop(operation: str, done: int, steps: int) -> None:
        raise StopIteration((operation, steps))

    with pytest.raises(StopIteration, match="'mex_period', 1000000000001"):
        go_on(stop)


def test_other_threads_go_on_during_a_run() -> None:
    over, told = threading.Event(), threading.Event()

    def stop(*_: object) -> None:
        told.set()
        if over.is_set():
            raise InterruptedError

    def run() -> None:
        with pytest.raises(InterruptedError):
            go_on(stop)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert told.wait(60)
    # This thread works while both runs are under way.
    steps, end = 0, time.monotonic() + 0.3
    while time.monotonic() < end:
        steps += 1
    assert steps > 1000 and nimlanes.zeros("squares", 5).tolist() == [0, 2, 5]
    # Ctrl-C is for this thread alone.
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    told.clear()
    assert told.wait(60) and all(thread.is_alive() for thread in threads)
    over.set()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
