from collections.abc import Callable, Iterable
from typing import SupportsIndex, TypeAlias

import numpy
from numpy.typing import NDArray

from . import Family, Kernel, Period, Solution

__all__ = ["__version__", "family", "first_heaps", "grundy_values", "kernels", "period", "positions", "solve", "zeros"]

_Moves: TypeAlias = str | Iterable[SupportsIndex]
_Progress: TypeAlias = Callable[[str, int, int], object]
_Setting: TypeAlias = str | int | Iterable[SupportsIndex]

__version__: str

def grundy_values(
    game: _Moves,
    limit: SupportsIndex,
    *,
    threads: int | None = None,
    kernel: str | None = None,
    force: bool = False,
    progress: _Progress | None = None,
) -> NDArray[numpy.uint16]: ...
def zeros(
    moves: _Moves,
    limit: SupportsIndex,
    *,
    threads: int | None = None,
    kernel: str | None = None,
    force: bool = False,
    progress: _Progress | None = None,
) -> NDArray[numpy.uint64]: ...
def first_heaps(
    moves: _Moves,
    limit: SupportsIndex,
    *,
    threads: int | None = None,
    kernel: str | None = None,
    force: bool = False,
    progress: _Progress | None = None,
) -> NDArray[numpy.uint64]: ...
def period(
    game: _Moves,
    limit: SupportsIndex,
    *,
    threads: int | None = None,
    kernel: str | None = None,
    force: bool = False,
    progress: _Progress | None = None,
) -> Period | None: ...
def family(
    largest_move: SupportsIndex,
    *,
    with_moves: Iterable[SupportsIndex] = (),
    symmetric: bool = False,
    top: SupportsIndex = 1,
    threads: int | None = None,
    kernel: str | None = None,
    force: bool = False,
    progress: _Progress | None = None,
) -> Family: ...
def positions(
    game: str,
    limit: SupportsIndex,
    *,
    threads: int | None = None,
    kernel: str | None = None,
    force: bool = False,
    progress: _Progress | None = None,
    **settings: _Setting,
) -> NDArray[numpy.uint64] | NDArray[numpy.uint32]: ...
def solve(
    game: str,
    limit: SupportsIndex,
    *,
    threads: int | None = None,
    kernel: str | None = None,
    force: bool = False,
    progress: _Progress | None = None,
    **settings: _Setting,
) -> Solution: ...
def kernels(operation: str | None = None) -> list[Kernel]: ...
