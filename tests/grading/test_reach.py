"""Which part of a code a question can reach: what it leaves out makes no difference to answers."""

import pytest

from autodiff_kit.grading.answers import remembered
from autodiff_kit.grading.calls import Call
from autodiff_kit.grading.reach import compiled, reach

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
        "Node.__mul__ = other",  # Python calls it without its name
        "Node.total = other",  # read as an attribute
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
    [
        "def other(x): return 0",
        "def alone(x): return 0",
        "def new(x): return total(x)",
        "Node.rule = other",
    ],
)
def test_a_function_that_nothing_names_is_not_reached(more: str) -> None:
    assert not is_reached(more)


BY_NAME = CODE + "def total(x): return globals()[f'{x}_rule'](x)\n"


def test_what_is_looked_up_by_the_end_of_its_name_is_reached() -> None:
    assert is_reached("def mul_rule(x): return 0", BY_NAME)
    assert is_reached("def mul_rule(x): return 0", BY_NAME.replace("_rule']", "{x}']"))
    assert not is_reached("def mul_value(x): return 0", BY_NAME)


def test_a_module_that_can_read_any_name_and_is_asked_what_a_function_is_does_not() -> None:
    code = f"import inspect\n{CODE}def deep(x): return inspect.isgeneratorfunction(x)\n"

    assert not is_reached("def other(x): return 0", code)
    assert is_reached("def other(x): return 0", f"{code}def helper(x): return inspect.stack()\n")


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


def test_of_what_a_driver_names_by_its_data_all_is_reached() -> None:
    driver = "def drive(step, data):\n    return getattr(step, data)(1)\n"

    assert reach(CODE + "def alone(x): return 0", driver) != reach(CODE, driver)


def test_codes_that_differ_where_a_question_does_not_reach_are_asked_once() -> None:
    questions: list[int] = []
    driver = "def drive(step, data):\n    return step.total(ask(data))\n"
    call = Call(driver, 2, reply=lambda data, question: questions.append(data) or question)

    answers = [
        remembered(f"{CODE}\n{more}", [call])[0].value
        for more in ("", "def alone(x): return 0", "def other(x): return 0", "SIZE = 5")
    ]

    assert answers == [5, 5, 5, 7]
    assert questions == [2, 2]


@pytest.mark.parametrize(
    "code",
    [
        "x = 1\ny = x + 1\n\n\ndef f(): return x\nz = f()",
        "if 0:\n    x = 1\nelif 0:\n    x = 2\nelse:\n    x = 3\n",
        "try:\n    x = 1 / 0\nexcept ZeroDivisionError:\n    x = 2\nfinally:\n    y = 3\n",
        'x = """\ny = 1\ndef f(): pass\n"""\n',
        "x = [\n1,\nlen('ab'),\n]\ny = 1 + \\\nx[0]\n",
        "def f(g): return lambda: 2 * g()\n@f\n@f\n# four\n\ndef g(): return 1\nx = g()\n",
        "# %%\nx = 1\n# a comment\n# %%\nx += 1\n",
        "from __future__ import annotations\nx = 1\ndef f(y: Nothing): return y\nx = f(2)\n",
    ],
)
def test_a_code_in_parts_does_what_the_whole_does(code: str) -> None:
    whole: dict = {}
    parts: dict = {}

    exec(code, whole)
    for part in compiled(code):
        exec(part, parts)

    def values(names: dict) -> dict:
        return {name: value for name, value in names.items() if type(value) in (int, str, list)}

    assert values(parts) == values(whole) != {}


@pytest.mark.parametrize("code", ["x = (", "def f():\nreturn 1", "@f\n", "else: pass", "x = '\n"])
def test_what_is_no_code_is_none_in_parts(code: str) -> None:
    with pytest.raises(SyntaxError):
        compiled(code)
