"""Say where a mistake can be seen, and nothing that gives an input away.

After reading this file you can say what learners are told of an example (all of it) and of other
inputs (in which way the answer differs, with no number of it). Read next: ``marking.py``.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from autodiff_kit.grading.answers import Answer, is_right
from autodiff_kit.grading.checks import Check, alike, as_array, show
from autodiff_kit.grading.exercise import Step

__all__ = ["evidence", "not_run", "without_right_lines"]


def without_right_lines(text: str) -> str:
    """Return what is said of a step without the lines that say what is right."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("right is"))


def not_run(step: Step, answer: Answer) -> str:
    """Say at which line the cells stop; and which names are missing after that."""
    names = " and ".join(f"`{name}`" for name in step.names)
    missing = f"{names} is not" if len(step.names) == 1 else f"not all of {names} are"
    missing += " defined"
    if answer.absent:
        missing = f"`{answer.absent}` is not defined, which your code for {names} needs"
    if answer.kind == "ModuleNotFoundError":
        missing += ". Only NumPy and Python's own modules are there, wherever the code is checked"
    after = "After this error" if answer.status == "raised" else "Without this line"
    return f"{_error(answer)}\n{after}, {missing}."


def _error(answer: Answer) -> str:
    return "\n".join(filter(None, (answer.error.strip(), answer.place)))


def evidence(
    check: Check, inputs: list[Any], answers: list[Answer], right: list[Answer], returns: bool
) -> str:
    """Say where it can be seen: on the example, else that it is another input.

    Of other inputs, and of what the learner's code made of them, nothing is said that could carry
    them out: who knows the inputs of one try has nothing for the next, but may try. Where `returns`
    is false, no function of the step returns anything.
    """
    for number, (data, answer, best) in enumerate(zip(inputs, answers, right, strict=True)):
        if is_right(check, data, answer, best):
            continue
        if check.explain and answer.status == "ok":
            return _explained(check, data, answer.value)
        if number == 0:
            expected, answer_text = check.show(best.value), check.show(answer.value)
            if answer.status == "ok" and answer_text == expected:
                answer_text, expected = _apart(answer.value, best.value)
            yours = f"your code gives {answer_text}" if answer.status == "ok" else _trouble(answer)
            if returns and _lacks_return(answer, best):
                yours += "  (Is a `return` missing?)"
            elif lacks := _lacks_attribute(answer):
                yours += f"  ({lacks})"
            yours += _precision(answer.value)
            where = _first_number(check, answer, best)
            if where and not answer_text.startswith("at ["):
                yours += f"\nThe first number that is not right: {where}."
            word = "right is, for example," if check.many else "right is"
            best_of = "" if best.status != "ok" else f"\n{word} {expected}"
            return f"For {check.caption}:\n{yours}{best_of}"
        yours = _difference(answer.value, best.value) if answer.status == "ok" else _trouble(answer)
        yours += _precision(answer.value)
        return (
            f"For {check.caption}: right. With other inputs of that kind it is not: there {yours}."
        )
    return ""


def _explained(check: Check, data: Any, value: Any) -> str:
    try:
        return check.explain(data, value) if check.explain else ""
    except Exception:  # it was written for values of the right kind; this is none
        return "That is no performance. Run the cell that writes your answers down once more."


def _precision(value: Any) -> str:
    """Say if an answer has fewer digits than a Python number."""
    parts = [*value] if isinstance(value, list | tuple) else [value]
    while parts:
        part = parts.pop()
        if isinstance(part, list | tuple):
            parts += part
        elif isinstance(part, np.ndarray | np.generic) and part.dtype in (np.float32, np.float16):
            digits = 7 if part.dtype == np.float32 else 3
            return f"  (It has {digits} digits only, as {part.dtype}. Use float64.)"
    return ""


def _lacks_return(answer: Answer, best: Answer) -> bool:
    """Tell whether a function seems to have returned nothing."""
    if answer.status == "raised":
        return not answer.place and "NoneType" in answer.error
    value, expected = answer.value, best.value
    if isinstance(value, list | tuple) and isinstance(expected, list | tuple):
        return any(v is None for v in value) and not any(w is None for w in expected)
    return answer.status == "ok" and value is None and expected is not None


def _lacks_attribute(answer: Answer) -> str:
    """Say of a number that is returned, or stored, where an object of a class is needed."""
    pattern = (
        r"AttributeError: '(int|float|bool|ndarray|list|tuple)' object has no attribute '(\w+)'"
    )
    match = re.search(pattern, answer.error) if not answer.place else None
    if answer.status != "raised" or match is None:
        return ""
    kind = {"int": "number", "float": "number"}.get(match[1], match[1])
    article = "an" if kind == "ndarray" else "a"
    return (
        f"No line of yours raises this: your code returns {article} {kind} where an object with "
        f"`.{match[2]}` is needed."
    )


def _apart(value: Any, expected: Any) -> tuple[str, str]:
    """Show two answers that look alike at first: with more digits, else where they part."""
    mine, right = show(value, digits=12), show(expected, digits=12)
    if mine != right:
        return mine, right
    where = ""
    while (part := _first_difference(value, expected)) is not None:
        where += f"[{', '.join(map(repr, part))}]"
        for index in part if isinstance(value, list | tuple | dict) else (part,):
            value, expected = value[index], expected[index]
    for digits in (4, 12):
        mine, right = (f"at {where}: {show(v, digits=digits)}" for v in (value, expected))
        if mine != right:
            break
    return mine, right


def _first_number(check: Check, answer: Answer, best: Answer) -> str:
    """Say which number of an array is the first wrong one, if it is one of several."""
    if answer.status != "ok" or best.status != "ok":
        return ""
    value, expected, name = answer.value, best.value, ""
    if isinstance(check.in_words, tuple) and isinstance(value, list | tuple):
        part = _first_difference(value, expected)
        if part is None:
            return ""
        name, value, expected = check.in_words[part[0]], value[part[0]], expected[part[0]]
    if not isinstance(expected, np.ndarray) or expected.size < 2:
        return ""
    value = as_array(value)
    place = None if value is None else _first_difference(value, expected)
    name = f"{name.removesuffix(':')} " if name else ""
    return "" if place is None else f"{name}at {[*place]}"


def _first_difference(value: Any, expected: Any) -> tuple[Any, ...] | None:
    """Return the index of the first part in which two answers differ, if they have parts."""
    if isinstance(value, np.ndarray) and isinstance(expected, np.ndarray):
        if value.shape != expected.shape or not value.ndim:
            return None
        unlike = np.argwhere(~np.isclose(value, expected, 1e-6, equal_nan=True))
        return tuple(map(int, unlike[0])) if len(unlike) else None
    if isinstance(value, dict) and isinstance(expected, dict) and value.keys() == expected.keys():
        keys: Any = expected.keys()
    elif isinstance(value, list | tuple) and isinstance(expected, list | tuple):
        keys = range(min(len(value), len(expected)))
    else:
        return None
    return next(((key,) for key in keys if not alike(value[key], expected[key])), None)


def _trouble(answer: Answer) -> str:
    if answer.status == "raised":
        return f"your code stops with {_error(answer) or 'an error'}"
    if answer.status == "missing":
        return answer.error
    if answer.status == "timeout":
        return "your code was not ready in time"
    if answer.status == "memory":
        return "your code takes more memory than it may use"
    if answer.status == "refused":
        return f"the grader cannot read your answer: {answer.error}"
    return f"your code gave no answer ({answer.error or answer.status})"


def _difference(value: Any, expected: Any) -> str:
    """Say in which way an answer is wrong, with no number of it."""
    if isinstance(expected, np.ndarray) and isinstance(value, list | tuple):
        array = as_array(value)
        value = value if array is None else array
    mine, best = _sort(value), _sort(expected)
    if mine != best:
        return f"your answer is {mine}, and not {best}"
    if isinstance(value, np.ndarray) and isinstance(expected, np.ndarray):
        if value.shape != expected.shape:
            return "your answer has another shape than it should have"
        if value.dtype.kind == "f" and not np.isfinite(value).all():
            return "your answer has numbers that are not finite"
    return "your answer is another one"


def _sort(value: Any) -> str:
    for kinds, words in (
        (type(None), "None"),
        (bool | np.bool_, "a truth value"),
        (int | float | np.number, "a number"),
        (np.ndarray, "an array"),
        (str, "text"),
        (list | tuple, "a list or tuple"),
    ):
        if isinstance(value, kinds):
            return words
    return "a dict"
