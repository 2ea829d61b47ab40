"""What an error of autograd is about: its message says which story it is, the recording the rest.

After reading you can say which errors are explained, and where the explanation of each is. Read
next: ``story.py``, which draws it; ``frames.py`` tells it in the last step of a run.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from autodiff_kit.record.events import ErrorRecord, RecordingData
from autodiff_kit.view.story_facts import Facts, Told
from autodiff_kit.view.story_operands import dtypes, one_number, shapes, truth
from autodiff_kit.view.story_paths import no_graph, not_wanted, unused
from autodiff_kit.view.story_refused import (
    function,
    hook_shape,
    inference,
    leaf_in_place,
    nan,
    no_float,
    no_grad_there,
    no_scalar,
    nothing_saved,
    of_a_result,
    wrong_shape,
)
from autodiff_kit.view.story_saved import changed, twice
from autodiff_kit.view.story_types import no_tensor

__all__ = ["cause", "first_sentences"]

LONG = 240  # of a longer message the first sentence is shown


def cause(recording: RecordingData, facts: Facts | None = None) -> Told | None:
    """Return title, chapters and cure of the error that ended a run; None if it has no story."""
    message = "" if recording["error"] is None else recording["error"]["message"]
    matches = [(match, tell) for p, tell in _TELLERS if (match := re.search(p, message))]
    facts = facts or (Facts(recording) if matches else None)
    stories = (tell(facts, match) for match, tell in matches if facts is not None)
    return next((one for one in stories if one is not None and one[1]), None)


def first_sentences(error: ErrorRecord) -> str:
    """Return class and message of an error, without what PyTorch and the kit advise."""
    line = str(error["message"]).split("\n")[0].split(" Hint:")[0]
    return f"{error['type']}: {line if len(line) < LONG else line.split('. ')[0] + '.'}"


Teller = Callable[[Facts, "re.Match[str]"], Told | None]
_TELLERS: tuple[tuple[str, Teller], ...] = (
    (r"modified by an inplace operation.*is at version (\d+); expected version (\d+)", changed),
    (r"backward through the graph a second time", twice),
    (r"can be implicitly created only for scalar outputs", no_scalar),
    (r"does not require grad and does not have a grad_fn", no_graph),
    (r"can't retain_grad on Tensor that has requires_grad=False", no_graph),
    (r"cannot register a hook on a tensor that doesn't require grad", no_graph),
    (r"leaf Variable that requires grad is being used in an in-place", leaf_in_place),
    (r"differentiated Tensor at index (\d+) appears to not have been used", unused),
    (r"differentiated Tensors does not require grad", not_wanted),
    (r"you can only change requires_grad flags of leaf variables", of_a_result),
    (r"Can't call numpy\(\) on Tensor that requires grad", of_a_result),
    (r"'NoneType'", no_grad_there),
    (r"'(\w+)' object has no attribute '(\w+)'", no_tensor),
    (r"Boolean value of Tensor with more than one value|truth value", truth),
    (r"elements? (tensors )?(can|cannot) be converted", one_number),
    (r"can't optimize a non-leaf Tensor", of_a_result),
    (r"graph leaves\) support the deepcopy protocol", of_a_result),
    (r"post accumulate grad hooks cannot be registered on non-leaf", of_a_result),
    (r"[Oo]nly Tensors of floating point (?:and complex )?dtype can require", no_float),
    (r"grad_output\[0\] has a shape of (torch\.Size\(\[.*?\]\))", wrong_shape),
    (r"hook '(.*)' has changed the size of value", hook_shape),
    (r"[Ii]nference tensor", inference),
    (r"returned an incorrect number of gradients", function),
    (r"returned an invalid gradient at index", function),
    (r"must implement either the backward", function),
    (r"marked with @once_differentiable", function),
    (r"Function '\w+' returned nan values", nan),
    (r"not enough values to unpack|tuple index out of range", nothing_saved),
    (r"dtype|scalar type", dtypes),
    (r"(?i)\b(sizes?|shapes?|dimensions?)\b", shapes),
)
