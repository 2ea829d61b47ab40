"""Running a learner's function for a lab: recorded, and never for longer than a moment.

After reading this file you know what bounds the run of a lab: a clock (``clock.py``) and a count of
operations, and that nothing stays behind of a run that was stopped. Read next: ``lab.py``.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from functools import partial
from types import CodeType
from typing import Any, Self

import numpy as np

from autodiff_kit.clock import Clock, FullSpeed, Stopped
from autodiff_kit.core.mode import local
from autodiff_kit.core.node import AccumulateGrad, Node
from autodiff_kit.core.observer import Both, Observer, installed
from autodiff_kit.core.op import Op
from autodiff_kit.core.view_nodes import Nowhere
from autodiff_kit.record import Recording, record
from autodiff_kit.record.events import Params
from autodiff_kit.tensor import Tensor

__all__ = [
    "OTHER_TENSORS",
    "Clock",
    "FullSpeed",
    "OutOfBounds",
    "Refused",
    "Stopped",
    "described",
    "first_words",
    "fresh_grads",
    "is_pytorch",
    "name_of",
    "ran",
    "refuse_class",
    "restorer",
    "run",
    "the_tensor",
    "with_article",
]


class Refused(Exception):
    """What a lab does not do, and why, in words for the learner."""


class OutOfBounds(Refused):
    """What a run that was stopped comes to: another one would take as long."""


def run(
    function: Callable[..., Any],
    *args: Any,
    seconds: float = 5.0,
    operations: int = 20_000,
    of: Callable[..., Any] | None = None,
    **kwargs: Any,
) -> tuple[Any, Recording]:
    """Call a function under a recorder of its own, within bounds.

    An observer outside of this call is not told of it, and a grad mode that the function has
    changed is put back.

    Parameters
    ----------
    function : callable
        Called with ``args`` and ``kwargs``.
    seconds : float, default 5
        It may run for so long. A single long call that is not Python code, such as
        ``time.sleep(60)``, is stopped when it comes back. Ctrl-C and the kernel's stop button
        reach what a cell calls; what a control calls may run in another thread.
    operations : int, default 20_000
        It may do so many operations on tensors.
    of : callable, optional
        The learner's function, where ``function`` is the lab's own and calls it: messages name it.

    Returns
    -------
    (value, Recording) - what the function returned, and what its tensors did.

    Raises
    ------
    OutOfBounds
        If one of the bounds is reached; the message says what to do. It is a ``Refused``.
    Exception
        Whatever the function raises.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> value, recording = run(lambda x: x * x, torch.tensor(3.0))
    >>> value
    tensor(9.)
    """
    restore = restorer()
    clock, recorder = Clock(seconds), record()
    try:
        # The clock goes on inside the recorder: it interrupts the learner's code and no other.
        with installed(_Counter(operations)), recorder as recording, clock:
            value = function(*args, **kwargs)
    except Stopped as stop:
        raise OutOfBounds(f"{name_of(of or function)} was stopped: {stop}") from None
    finally:
        # Where it struck on the way in or out, it has not been ended yet, nor have the others.
        clock.__exit__()
        recorder.__exit__()
        restore()
    return value, recording


def restorer() -> Callable[[], None]:
    """Return what puts the grad mode and the observer of this thread back to what they are now."""
    mode = local.mode
    before = mode.grad_enabled, mode.inference, mode.observer

    def restore() -> None:
        mode.grad_enabled, mode.inference, mode.observer = before

    return restore


def ran(value: Any, function: Callable[..., Any]) -> Any:
    """Return what a call gave, if the lines of the function have run by then.

    Raises
    ------
    Refused
        If the call has only made a generator or a coroutine: none of its lines has run.
    """
    if inspect.iscoroutine(value):
        value.close()  # else Python warns that it was never awaited
    if inspect.iscoroutine(value) or inspect.isasyncgen(value):
        code = value.cr_code if inspect.iscoroutine(value) else value.ag_code
        name = _name_of_code(code, function)
        raise Refused(
            f"{name} is written with `async def`: a call only prepares it, and none of its lines "
            "runs.\n-> Write `def` instead of `async def`, without `await`."
        )
    if inspect.isgenerator(value) and value.gi_code.co_name != "<genexpr>":
        name = _name_of_code(value.gi_code, function)
        raise Refused(
            f"{name} is a generator, as it contains `yield`: a call only prepares it, and none of "
            "its lines runs.\n-> Write `return` instead of `yield`, or call a function that goes "
            "through it: for _ in generator: ..."
        )
    return value


def _name_of_code(code: CodeType, function: Callable[..., Any]) -> str:
    """Return what the function of this code is called: the one given, or one that it calls."""
    is_own = code.co_name in ("<lambda>", "__call__", "forward")
    return name_of(function) if is_own else code.co_name


def the_tensor(value: Any, function: Callable[..., Any]) -> Tensor:
    """Return what a function returned, if that is a tensor.

    Raises
    ------
    Refused
        If it is not; the message says what it was instead.
    """
    if isinstance(value, Tensor):
        return value
    ran(value, function)
    name = name_of(function)
    if value is None:
        raise Refused(
            f"{name} returned nothing (None), and this lab needs a tensor.\n"
            "-> End each path through it with a line such as `return y`."
        )
    if is_pytorch(value):
        raise Refused(f"{name} returned a tensor of PyTorch itself.\n{OTHER_TENSORS}")
    if callable(value):
        hint = "-> Call it, and return its result; or give the lab what it returned."
    elif isinstance(value, tuple | list | dict | set):
        hint = "-> Return one tensor, such as the loss, and not several values."
    elif isinstance(value, bool | int | float | complex | np.ndarray | np.generic):
        hint = "-> Return the tensor itself: without float(), int(), bool(), .item() or .numpy()."
    else:
        hint = "-> Return the tensor that it computes, such as the loss."
    raise Refused(f"{name} returned {described(value)}; this lab needs a tensor.\n{hint}")


def described(value: Any) -> str:
    """Return what a function returned, in words: the same on every machine."""
    if isinstance(value, bool | int | float | str) or value is None:
        text = str(value) if isinstance(value, float) else repr(value)
        kinds = {bool: "the bool ", int: "the int ", float: "the float ", str: "the str "}
        return kinds.get(type(value), "") + (text if len(text) <= 40 else f"{text[:39]}…")
    if isinstance(value, tuple | list | dict | set):
        kind = with_article(type(value).__name__)
        return f"{kind} of {len(value)} item{'s' * (len(value) != 1)}"
    if is_pytorch(value):
        return "a tensor of PyTorch itself"
    if inspect.isroutine(value):
        return "a function"
    if isinstance(value, np.ndarray):
        return "a NumPy array"
    kind_name = type(value).__name__
    return f"an object of the class {kind_name}" if kind_name[:1].isupper() else f"a {kind_name}"


def with_article(noun: str) -> str:
    """Return ``"a float"``, ``"an int"``."""
    return f"{'an' if noun[0] in 'aeiouAEIOU' else 'a'} {noun}"


def refuse_class(function: Any) -> None:
    """Refuse a class whose objects can be called.

    Raises
    ------
    TypeError
        The message says to make an object.
    """
    if inspect.isclass(function) and (hasattr(function, "forward") or "__call__" in vars(function)):
        name = function.__name__
        raise TypeError(
            f"a lab needs a function, and {name} is a class.\n-> Give an object of it: {name}()."
        )


OTHER_TENSORS = (
    "-> The labs run on the kit's own tensors, which PyTorch's functions do not take. Write "
    "`import autodiff_kit as torch` in place of `import torch`, and run the cell again."
)


def is_pytorch(value: Any) -> bool:
    """Return whether this is a tensor or a module of PyTorch, which is not imported to know it."""
    pytorch = sys.modules.get("torch")
    kinds = getattr(pytorch, "Tensor", None), getattr(getattr(pytorch, "nn", None), "Module", None)
    return any(isinstance(kind, type) and issubclass(type(value), kind) for kind in kinds)


def name_of(function: Callable[..., Any]) -> str:
    """Return what a function is called in a sentence: the same words on every machine."""
    while isinstance(function, partial):
        function = function.func
    name = getattr(function, "__name__", "") or type(function).__name__
    return "the lambda" if name == "<lambda>" else name


def first_words(error: BaseException) -> str:
    """Return the class of an error and its first sentence."""
    words = str(error).split("\n")[0].split(". ")[0].rstrip(".")
    return f"{type(error).__name__}: {words}".rstrip(": ")


class fresh_grads(Observer):
    """Let every ``.grad`` begin anew inside, and give the leaves back those that they had.

    A lab runs the learner's code again and again, and should leave no trace in it.

    Attributes
    ----------
    found : list of (Tensor, Tensor or None)
        Leaves and the gradients that they got, once the block is over.
    went_back : bool
        Whether a backward pass has begun inside.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> with fresh_grads() as grads:
    ...     (x * x).backward()
    ...     print(x.grad)
    tensor(6.)
    >>> x.grad is None, grads.pairs[0][1]
    (True, tensor(6.))
    """

    def __init__(self) -> None:
        self.pairs: list[tuple[Tensor, Tensor | None]] = []
        self.went_back = False
        self._grads: list[tuple[Tensor, Tensor | None]] = []
        self._leaf_numbers: set[int] = set()

    def __enter__(self) -> Self:
        outer = local.mode.observer
        self._installed = installed(self if outer is None else Both(self, outer))
        self._installed.__enter__()
        return self

    def backward_started(self, roots: Sequence[tuple[Node, Any]]) -> None:
        """Note it."""
        self.went_back = True

    def visited(self, node: Node, g: Any) -> None:
        """Put the gradient of a leaf aside when the first one comes to it."""
        if isinstance(node, Nowhere):
            return
        if isinstance(node, AccumulateGrad) and node.number not in self._leaf_numbers:
            leaf = node.variable
            self._leaf_numbers.add(node.number)
            self._grads.append((leaf, leaf.grad))
            with installed(None):  # this is no line of the learner's, so no recording tells of it
                leaf.grad = None

    def __exit__(self, *error: Any) -> None:
        self._installed.__exit__(*error)
        with installed(None):
            for leaf, grad in self._grads:
                self.pairs.append((leaf, leaf.grad))
                leaf.grad = grad


class _Counter(Observer):
    """Ends the run after so many operations."""

    def __init__(self, limit: int) -> None:
        self._limit = self._left = limit

    def applied(
        self, op: Op, inputs: Sequence[Any], params: Params, out: Tensor, node: Node | None
    ) -> None:
        """Count one more."""
        self._left -= 1
        if self._left < 0:
            raise Stopped(
                f"it did more than {self._limit:,} operations on tensors, which no picture shows.\n"
                "-> Give it fewer iterations or smaller inputs; a lab is for the small case."
            )
