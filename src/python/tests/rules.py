"""The rules of the games in plain Python, as slow as they are plain."""

from collections.abc import Iterable, Iterator
from itertools import combinations_with_replacement, count

Position = tuple[int, ...]


def mex(values: Iterable[int]) -> int:
    reached = set(values)
    return next(value for value in count() if value not in reached)


def of_moves(moves: Iterable[int], limit: int) -> list[int]:
    """The values of a subtraction set."""
    moves, values = list(moves), list[int]()
    for n in range(limit + 1):
        values.append(mex(values[n - m] for m in moves if m <= n))
    return values


def repetition(moves: tuple[int, ...]) -> tuple[int, int]:
    """The period and the preperiod of a subtraction set, whose largest move comes last."""
    seen, values = dict[tuple[int, ...], int](), of_moves(moves, 1000)
    for n in count():
        state = tuple(values[n : n + moves[-1]])
        if state in seen:
            return n - seen[state], seen[state]
        seen[state] = n
    raise AssertionError


def of_code(code: str, limit: int) -> list[int]:
    """The values of an octal game."""
    first, digits = code.split(".")
    values = list[int]()

    def reached(n: int) -> Iterator[int]:
        for place, digit in enumerate(first + digits):
            left = n - place
            if left == 0 and int(digit) & 1:
                yield 0
            if left > 0 and int(digit) & 2:
                yield values[left]
            if left > 0 and int(digit) & 4:
                yield from (values[a] ^ values[left - a] for a in range(1, left))

    for n in range(limit + 1):
        values.append(mex(reached(n)))
    return values


def p_positions(heaps: int, limit: int, moves: list[Position]) -> list[Position]:
    """The P-positions with heaps up to a limit. A move takes `t` times the numbers of a row, for some `t > 0`, in any order."""
    lost = set[Position]()
    for position in combinations_with_replacement(range(limit + 1), heaps):

        def loses(position: Position = position) -> bool:
            for move in moves:
                for t in range(1, limit + 1):
                    left = tuple(heap - t * taken for heap, taken in zip(position, move))
                    if min(left) >= 0 and tuple(sorted(left)) in lost:
                        return False
            return True

        if loses():
            lost.add(position)
    return sorted(lost)
