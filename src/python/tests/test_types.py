"""The stubs match the module, and type checkers accept its use."""

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[1]


def run(module: str, *arguments: str, folder: Path) -> None:
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_stubs_are_those_of_the_module(tmp_path: Path) -> None:
    run("mypy.stubtest", "nimlanes", folder=tmp_path)


def test_the_package_and_its_tests_are_typed() -> None:
    run("mypy", "--strict", "nimlanes", "tests", folder=FOLDER)
