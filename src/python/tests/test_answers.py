"""The results of the functions: against the rules of the games, and as NumPy has it."""

from importlib.metadata import version
from itertools import chain, combinations
from math import comb
from typing import Any

import numpy
import pytest
from rules import Position, of_code, of_moves, p_positions, repetition

import nimlanes

SQUARES = [k * k for k in range(1, 30)]


@pytest.mark.parametrize(
    ("game", "moves"),
    [
        ("squares", SQUARES),
        ("1,4,9", [1, 4, 9]),
        ([2, 7, 19], [2, 7, 19]),
        (range(1, 6), range(1, 6)),
        (numpy.array([1, 5, 6]), [1, 5, 6]),
        ("all-but:4,9", [m for m in range(1, 801) if m not in (4, 9)]),
    ],
)
def test_values_of_a_set_are_those_of_the_rules(game: str | list[int], moves: list[int]) -> None:
    want = numpy.array(of_moves(moves, 800))
    values = nimlanes.grundy_values(game, 800)
    assert values.dtype == numpy.uint16 and numpy.array_equal(values, want)
    zeros = nimlanes.zeros(game, 800)
    assert zeros.dtype == numpy.uint64 and numpy.array_equal(zeros, numpy.flatnonzero(want == 0))
    first = nimlanes.first_heaps(game, 800)
    assert first.dtype == numpy.uint64 and numpy.array_equal(first, numpy.unique(want, return_index=True)[1])


@pytest.mark.parametrize(("game", "code"), [("kayles", "0.77"), ("0.137", "0.137"), (".6", "0.6"), ("4.3", "4.3")])
def test_values_of_a_code_are_those_of_the_rules(game: str, code: str) -> None:
    assert nimlanes.grundy_values(game, 150).tolist() == of_code(code, 150)


def test_the_least_limit_is_zero() -> None:
    assert nimlanes.grundy_values("squares", 0).tolist() == [0]
    assert nimlanes.zeros("squares", 0).tolist() == [0]
    assert nimlanes.first_heaps("squares", 0).tolist() == [0]
    assert nimlanes.positions("stone-game", 0).tolist() == [[0, 0, 0]]


@pytest.mark.parametrize("game", ["kayles", "0.137", "0.007", [2, 4, 7], "1..5"])
def test_a_period_holds_from_its_beginning_and_not_before(game: str | list[int]) -> None:
    found = nimlanes.period(game, 2000)
    if game == "0.007":
        assert found is None
        return
    assert found is not None and found == (found.period, found.preperiod, found.heaps)
    values = nimlanes.grundy_values(game, 2000)
    same = values[found.period :] == values[: -found.period]
    assert same[found.preperiod :].all() and not same[: found.preperiod][-1:].any()


@pytest.mark.parametrize(
    ("largest", "common", "symmetric"),
    [(1, [], False), (7, [], False), (8, [5, 2], False), (9, [], True), (10, [], True)],
)
def test_a_family_is_that_of_the_rules(largest: int, common: list[int], symmetric: bool) -> None:
    free = [m for m in range(1, largest) if m not in common]
    chosen = chain.from_iterable(combinations(free, k) for k in range(len(free) + 1))
    sets = [tuple(sorted([*some, *common, largest])) for some in chosen]
    if symmetric:
        sets = [moves for moves in sets if all(largest - m in moves for m in moves[:-1])]
    want = {moves: repetition(moves) for moves in sets}
    found = nimlanes.family(largest, with_moves=common, symmetric=symmetric, top=1000)
    assert {each.moves: (each.period, each.preperiod) for each in found.longest_periods} == want
    assert {each.moves for each in found.longest_preperiods} == {moves for moves in sets if want[moves][1] > 0}
    periods = [period for period, _ in want.values()]
    assert (found.sets, found.sum_of_periods, found.longest_period) == (len(sets), sum(periods), max(periods))
    assert list(found.periods.items()) == [(period, periods.count(period)) for period in sorted(set(periods))]
    assert found.longest_preperiod == max(preperiod for _, preperiod in want.values())
    assert found.purely_periodic == found.sets - len(found.longest_preperiods)
    assert found.largest_value == max(max(of_moves(moves, 500)) for moves in sets)
    if not symmetric:
        words = nimlanes.family(largest, with_moves=iter(common), kernel="mex_family=words")
        assert words.longest_periods == found.longest_periods[:1] and words[:6] == found[:6]


def test_the_version_is_that_of_the_package() -> None:
    assert nimlanes.__version__ == version("nimlanes")


@pytest.mark.parametrize(
    ("game", "settings", "heaps", "moves"),
    [
        ("stone-game", {}, 3, [(0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0), (1, 1, 1)]),
        ("proportionate-nim", {}, 2, [(0, 1), (1, 0), (1, 1), (1, 2), (2, 1)]),
        ("proportionate-nim", {"moves": "1:1"}, 2, [(0, 1), (1, 0), (1, 1)]),
    ],
)
def test_positions_are_those_of_the_rules(
    game: str, settings: dict[str, Any], heaps: int, moves: list[Position]
) -> None:
    limit = 16
    found = nimlanes.positions(game, limit, **settings)
    want = p_positions(heaps, limit, moves)
    if heaps == 2:
        want = [position for position in want if sum(position) <= limit]
    assert found.dtype == (numpy.uint64 if heaps == 2 else numpy.uint32) and found.shape == (len(want), heaps)
    assert [tuple(row) for row in found.tolist()] == want


def test_answers_of_published_problems() -> None:
    assert nimlanes.solve("stone-game", 100).answer == 173_895
    assert [nimlanes.solve("proportionate-nim", 10**k).answer for k in (1, 2, 3)] == [21, 1164, 117_002]
    assert nimlanes.solve("nim-square", 29).answer == 1160
    assert [nimlanes.solve("scatterstone-nim", n).answer for n in (7, 10)] == [66, 291]


def test_a_solution_has_settings_details_and_kernels() -> None:
    solution = nimlanes.solve("nim-square", 500, heaps=40, moves=[1, 4, 9], kernel="mex_subtraction=stamp", threads=1)
    assert solution == nimlanes.solve("nim-square", 500, heaps=40, moves="1,4,9")._replace(kernels=solution.kernels)
    assert solution.answer > 2**128 and solution.kernels["mex_subtraction"] == "stamp"
    details = nimlanes.solve("proportionate-nim", 1000).details
    assert {type(number) for number in details.values()} == {int, float}
    exact = nimlanes.solve("scatterstone-nim", 100, exact=True)
    assert exact.answer % 1_000_000_007 == nimlanes.solve("scatterstone-nim", 100).answer < exact.answer


def test_an_answer_may_have_more_digits_than_python_prints() -> None:
    # Without moves, every multiset of 10000 of the 6001 heaps counts.
    solution = nimlanes.solve("nim-square", 6000, heaps=10_000, moves=[7000])
    assert solution.answer == comb(16_000, 10_000) > 10**4300


@pytest.mark.parametrize("false", [False, numpy.False_])
def test_a_flag_that_is_false_is_not_set(false: Any) -> None:
    for settings in [dict[str, Any](), {"modulus": 7}]:
        want = nimlanes.solve("scatterstone-nim", 50, **settings)
        assert nimlanes.solve("scatterstone-nim", 50, **settings, exact=false) == want
    exact = nimlanes.solve("scatterstone-nim", 50, exact=True)
    assert nimlanes.solve("scatterstone-nim", 50, exact=not false) == exact


def test_arrays_own_what_the_library_computed() -> None:
    for array in (
        nimlanes.grundy_values("squares", 100_000),
        nimlanes.zeros("squares", 100_000),
        nimlanes.first_heaps("squares", 100_000),
        nimlanes.positions("stone-game", 50),
    ):
        assert array.flags.writeable and array.flags.c_contiguous
        # A copy would own its data; this is a view of a vector.
        assert not array.flags.owndata
        base = array
        while isinstance(base, numpy.ndarray):
            assert base.base is not None
            base = base.base
        assert type(base).__name__ == "PySliceContainer"
        array[...] = 0


def test_kernels_are_listed() -> None:
    listed = nimlanes.kernels("mex_subtraction")
    assert listed[0].name == "flags" and listed[0] == nimlanes.Kernel(*listed[0])
    assert all(kernel.operation == "mex_subtraction" for kernel in listed)
    assert set(listed) < set(nimlanes.kernels())
    want = nimlanes.grundy_values("squares", 5000)
    runs = [kernel.name for kernel in listed if kernel.obstacle is None and kernel.name != "periodic"]
    for name in runs[:4] + runs[-4:]:
        assert numpy.array_equal(nimlanes.grundy_values("squares", 5000, kernel=f"mex_subtraction={name}"), want), name
