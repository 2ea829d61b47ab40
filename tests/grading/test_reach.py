"""Which part of a code a question can reach: what it leaves out makes no difference to answers."""

import pytest

from autodiff_kit.grading.reach import reach

DRIVER = "def drive(step, data):\n    return step.total(data)\n"
CODE = """
import numpy as np
SIZE = 3


class Node:
    def __add__(self, other): return helper(self)


def helper(x): return deep(x)
def deep(x): return x
def total(x): return np.sum(x) + SIZE
def alone(x): return other(x)
def other(x): return x
"""


def is_reached(more: str, code: str = CODE) -> bool:
    """Tell whether what stands behind a code can change what is answered."""
    return reach(code + more, DRIVER) != reach(code, DRIVER)


@pytest.mark.parametrize(
    "more",
    [
        "def total(x): return 0",
        "def helper(x): return 0",  # called by a method of a class
        "def deep(x): return 0",  # called by what is called
        "def sum(x): return 0",  # an attribute of this name is read
        "Node.__add__ = lambda self, other: 0",
        "SIZE = 4",
        "alone(1)",
        "class Other: pass",
        "@register\ndef other(x): return 0",
        "if True:\n    def other(x): return 0",
        "total = other\n\ndef other(x): return 0",
        "def other(x): return 0\ndef total(x, f=other): return f(x)\ndef other(x): return 1",
        "kept = total\ndef total(x): return kept(x)",
        "def total(x): return globals()['other'](x)",
    ],
)
def test_what_may_change_an_answer_is_reached(more: str) -> None:
    assert is_reached(more)


@pytest.mark.parametrize(
    "more",
    ["def other(x): return 0", "def alone(x): return 0", "def new(x): return total(x)"],
)
def test_a_function_that_nothing_names_is_not_reached(more: str) -> None:
    assert not is_reached(more)


@pytest.mark.parametrize(
    "more",
    [
        "def total(x): return np.sum(x) + SIZE",
        "def total(x):\n    # not yet\n    return 0\n\ndef total(x): return np.sum(x)+SIZE",
        "def deep(x): return 0\ndef total(x): return 1\n"
        "def deep(x): return x\ndef total(x): return np.sum(x) + SIZE",
    ],
)
def test_what_is_defined_again_before_anything_runs_is_not_reached(more: str) -> None:
    assert not is_reached(more)


def test_where_code_may_read_any_name_all_of_it_is_reached() -> None:
    code = CODE.replace("np.sum(x)", "eval('other')(x)")

    assert is_reached("def alone(x): return 0", code)
    assert reach(code, DRIVER) == code
