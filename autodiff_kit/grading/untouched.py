"""Ask whether a learner's function leaves its arguments as they were.

After reading this file you can add to a step the check that its function changes nothing that it
was called with. Another operation, or a second backward pass, may still read those arrays, so a
rule that writes into them is wrong though its numbers are right. Read next: ``marking.py``.
"""

# mypy: allow-untyped-calls
from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from autodiff_kit.grading.checks import Check

__all__ = ["untouched"]


def untouched(*checks: Check, name: str, points: float, caption: str = "") -> Check:
    """Make the check that a step's function changes none of its inputs.

    It asks what other checks of the step ask, with the same inputs, so that a function loses these
    points only if it changes an input, or if none of the other checks is passed: who does nothing
    changes nothing, and earns nothing.

    Parameters
    ----------
    *checks : Check
        Checks of one step whose drivers hand over what is in `data`, not copies of it. A changed
        input is shown by its name in `data`.
    name : str
        Name of the check, as for a class: of its test cell and its message.
    points : float
    caption : str, optional
        The examples in words, if there are several.

    Returns
    -------
    Check
    """
    drivers = [
        f"def part_{number}(step, data):\n{textwrap.indent(check.driver, '    ')}\n"
        "    return drive(step, data)\n"
        for number, check in enumerate(checks)
    ]
    names = ", ".join(f"part_{number}" for number in range(len(checks)))
    sources = [inspect.getsource(part) for part in (_copy, _is_same, _drive)]
    call = f"def drive(step, data):\n    return _drive(step, data, [{names}])\n"

    def expected(data: Any) -> Any:
        parts = zip(checks, data, strict=True)
        answers = [[check.expected(case) for case in cases] for check, cases in parts]  # type: ignore[misc]
        return {"changed": [], "answers": answers}

    return _Untouched(
        name=name,
        step=checks[0].step,
        points=points,
        concept="right without changing its inputs",
        example=[[check.example] for check in checks],
        caption=f"{caption or checks[0].caption} "
        "(which inputs are changed afterwards, and the answer)",
        generate=lambda rng: None,
        driver="\n".join([*sources, *drivers, call]),
        cases=1,
        expected=expected if all(check.expected for check in checks) else None,
        compare=lambda data, value, expected: _compare(checks, data, value, expected),
        # A function that keeps something from one call to the next may be wrong in this check only.
        diagnose=lambda data, value, expected: "" if value["changed"] else checks[0].name,
        needs=checks,
    )


@dataclass(frozen=True, eq=False)
class _Untouched(Check):
    """A check whose inputs are those of other checks."""

    def draws(self, seed: int) -> Iterator[Any]:
        """Yield one case: all random cases of the other checks."""
        yield [list(check.draws(seed)) for check in self.needs]


def _compare(checks: tuple[Check, ...], data: Any, value: Any, expected: Any) -> bool:
    """Tell whether nothing is changed, and one of the checks is passed."""
    parts = zip(checks, data, value["answers"], expected["answers"], strict=True)
    return value["changed"] == [] and any(_is_passed(*part) for part in parts)


def _is_passed(check: Check, data: Any, value: Any, expected: Any) -> bool:
    try:
        return all(
            check.compare(case, mine, best) is True
            for case, mine, best in zip(data, value, expected, strict=True)
        )
    except Exception:  # `compare` was written for answers of the right kind; this is none
        return False


# -- What travels with the driver, and so uses nothing else of this file ---------------------------


def _drive(step, data, parts):  # type: ignore[no-untyped-def]
    before, errors = _copy(data), []
    answers: list[list[object]] = []
    for drive, cases in zip(parts, data):  # noqa: B905
        answers.append([])
        for case in cases:
            try:
                answers[-1].append(drive(step, case))
            except Exception as error:  # costs this part; the others may still be right
                answers[-1].append(None)
                errors.append(error)
    if len(errors) == sum(len(cases) for cases in data):
        raise errors[0]
    pairs = [pair for many in zip(before, data) for pair in zip(*many)]  # noqa: B905
    names = {name for old, new in pairs for name in old if not _is_same(old[name], new[name])}
    return {"changed": sorted(names), "answers": answers}


def _copy(data):  # type: ignore[no-untyped-def]
    if isinstance(data, dict):
        return {name: _copy(part) for name, part in data.items()}
    if isinstance(data, list):
        return [_copy(part) for part in data]
    return data.copy() if hasattr(data, "tobytes") else data


def _is_same(before, after):  # type: ignore[no-untyped-def]
    """Tell whether an input is what it was, to the last bit."""
    if isinstance(before, dict):
        return all(_is_same(before[name], after[name]) for name in before)
    if isinstance(before, list):
        return len(before) == len(after) and all(map(_is_same, before, after))
    if hasattr(before, "tobytes"):  # learners' code can change what `np.ndarray` is
        is_alike = before.shape == after.shape and before.dtype == after.dtype
        return is_alike and before.tobytes() == after.tobytes()
    return before == after
