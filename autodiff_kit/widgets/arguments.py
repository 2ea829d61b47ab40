"""Controls for the arguments of a learner's function, made from its signature.

After reading you know which argument becomes what: a float a slider that makes tensors which
require a gradient - or floats, if no recorded operation uses them, as of a learning rate -, an int
a slider of ints, a bool a checkbox, a ``Literal``, an ``Enum`` or a list of examples a choice, a
tensor of one number a slider that makes such tensors; whatever else is given stays as it is. A
float that is always to stay one is given as a choice: ``lr=[0.1, 0.01]``. Read next:
``control_flow.py``, which uses them.
"""

from __future__ import annotations

import inspect
import math
import sys
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from enum import Enum
from typing import Any, TypeVar

import numpy as np

from autodiff_kit.core.mode import local
from autodiff_kit.core.node import Node
from autodiff_kit.core.observer import Both, Observer, installed
from autodiff_kit.core.op import Op
from autodiff_kit.creation import tensor
from autodiff_kit.free_form import Keywords
from autodiff_kit.record.events import Params
from autodiff_kit.record.source_files import is_foreign
from autodiff_kit.tensor import Tensor
from autodiff_kit.view.words import spoken
from autodiff_kit.widgets.calls import called, is_readable
from autodiff_kit.widgets.controls import Choice, Control, Slider, Switch, Text
from autodiff_kit.widgets.distrust import contents
from autodiff_kit.widgets.running import (
    OTHER_TENSORS,
    OutOfBounds,
    described,
    is_pytorch,
    name_of,
    refuse_class,
    with_article,
)
from autodiff_kit.widgets.value_controls import (
    MISSING,
    choices_of,
    fresh,
    from_hint,
    hints_of,
    in_words,
    inner_function,
    is_tensor_hint,
    shown,
    tensor_control,
)

__all__ = ["Arguments", "Values", "no_tensors"]

Values = Mapping[str, Any]  # what the arguments of a function of the learner's are, by name

T = TypeVar("T")

_PLAIN = (int, float, str, bool, type(None))
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class Arguments:
    """What a function is called with, as controls say.

    Parameters
    ----------
    function : callable
    examples : mapping from str to anything
        By argument, what to begin with; where there is none, its default, and for an argument that
        is hinted as a Tensor, ``tensor(1.)``.
    without : collection of str, optional
        Arguments that the caller gives itself, or leaves out. The others are not what is looked
        at then: floats stay floats, and one that has nothing to begin with begins with 1.0.

    Attributes
    ----------
    controls : dict from str to Control
        One for each argument that can be changed.

    Raises
    ------
    TypeError
        If ``function`` is none, if it takes no such argument, or if one has neither example nor
        default; the message says what to write.

    Examples
    --------
    >>> def f(x: Tensor, times: int = 2): ...
    >>> arguments = Arguments(f, {"x": tensor(3.0)})
    >>> arguments.values()
    {'x': tensor(3.), 'times': 2}
    """

    def __init__(
        self,
        function: Callable[..., Any],
        examples: Values,
        *,
        without: Collection[str] = (),
    ) -> None:
        if not callable(function):
            raise TypeError(
                f"a lab needs a function, and this is {with_article(type(function).__name__)}.\n"
                "-> Give the function itself, without calling it: f, and not f(x)."
            )
        refuse_class(function)
        name = name_of(function)
        try:
            all_parameters = inspect.signature(inner_function(function)).parameters
        except (TypeError, ValueError):
            raise TypeError(
                f"{name} does not say what its arguments are.\n"
                "-> Write a function of your own around it: def f(x): ..."
            ) from None
        parameters = {n: p for n, p in all_parameters.items() if p.kind not in _VARIADIC}
        if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in all_parameters.values()):
            more = (name for name in examples if name not in parameters)
            parameters |= {name: _keyword(name) for name in more}
        unknown = [argument for argument in examples if argument not in parameters]
        rest = [n for n, p in all_parameters.items() if p.kind is inspect.Parameter.VAR_POSITIONAL]
        if rest and (unknown or not parameters):
            raise TypeError(
                f"{name} takes *{rest[0]}, and a lab gives arguments by name.\n"
                f"-> Write a function around it: def f(x=2.0): return {name}(x)"
            )
        if unknown:
            raise TypeError(
                f"{name} has no argument {unknown[0]!r}.\n-> It has: "
                f"{', '.join(parameters) or 'none'}."
            )
        parameters = {n: p for n, p in parameters.items() if n not in without}
        hints = hints_of(function)
        self._makers: dict[str, Callable[[Any], Any]] = {}
        # A function of a library may not take an argument by the name that it shows.
        is_of_library = not without and not is_readable(function)
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        self._positional = [
            n for n, p in parameters.items() if p.kind in kinds[: 1 + is_of_library]
        ]
        self._fixed: Keywords = {}
        self._floats: set[str] = set()  # given as floats: may stay such
        self._used: set[str] = set()  # of those, what has been used as a tensor
        self._plain: set[str] = set()  # and what is a float in the present run
        self._watch: _Uses | None = None
        self.controls: dict[str, Control] = {}
        self._tensors: list[str] = []
        self._order = list(parameters)
        for argument, parameter in parameters.items():
            hint = hints.get(argument, MISSING)
            value = examples.get(argument, parameter.default)
            is_example = argument in examples
            if value is MISSING:
                value = from_hint(hint)
            if value is MISSING and without:
                value = 1.0
            if value is MISSING:
                raise TypeError(
                    f"{name} needs something to begin with for {argument}.\n"
                    f"-> For example: {argument}=2.0, or {argument}=torch.tensor(2., "
                    "requires_grad=True)"
                )
            if isinstance(value, np.generic):
                value = value.item()
            if is_pytorch(value):
                raise TypeError(f"{argument} is a tensor of PyTorch itself.\n{OTHER_TENSORS}")
            is_number = isinstance(value, int | float) and not isinstance(value, bool | Enum)
            if is_number and (isinstance(value, float) or hint is float or is_tensor_hint(hint)):
                number = float(value)
                value = tensor(number, requires_grad=True)
                if not is_tensor_hint(hint):
                    self._floats.add(argument)
                self._add(argument, value, hint, is_example)
                if argument in self.controls:  # with all digits, which a tensor may not have
                    self.controls[argument].value = number
            else:
                self._add(argument, value, hint, is_example)
        if without:
            self._plain, self._floats = self._floats, set()

    def _add(self, name: str, value: Any, hint: Any, is_example: bool) -> None:
        control: Control | None = None
        make: Callable[[Any], Any] = lambda chosen: chosen  # noqa: E731 - the commonest of three
        # A list by default is what the function computes with, unless it is annotated otherwise.
        is_own = type(value) is list and not is_example and hint is MISSING
        choices = None if is_own else choices_of(hint, value)
        if choices is not None:
            items = [item for _, item in choices]
            if all(type(item) in _PLAIN or isinstance(item, Enum) for item in items):
                first = value if value in items else items[0]
                control = Choice(choices, first)
            else:  # such as tensors, which cannot be told apart by ==
                labels = [(label, number) for number, (label, _) in enumerate(choices)]
                control = Choice(labels, 0)
                make = lambda number: fresh(items[number])  # noqa: E731
            if all(isinstance(item, Tensor) for item in items):
                self._tensors.append(name)
        elif type(value) is bool:
            control = Switch(value)
        elif type(value) is int:
            low, high = min(value, 0), max(value, 0)
            control = Slider(value, min(2 * low, low), max(2 * high, 8))
        elif isinstance(value, range) and value:
            control = Slider(value[0], value[0], value[-1], value.step)
        elif type(value) is str:
            control = Text(value)
        elif isinstance(value, Tensor):
            self._tensors.append(name)
            if value.numel() == 1 and not value.dtype.is_complex and math.isfinite(value.item()):
                control, make = tensor_control(value)
        if control is None:
            self._fixed[name] = value
            return
        control.description = name
        control.help = f"The argument {name} of your code: {in_words(value, choices)}."
        self.controls[name], self._makers[name] = control, make

    def beside(self, controls: Mapping[str, Control]) -> dict[str, Control]:
        """Return the controls of the arguments, and after them a lab's own.

        Raises
        ------
        TypeError
            If an argument has the name of one of those.
        """
        for name in controls:
            if name in self.controls:
                raise TypeError(
                    f"the lab has a control {name!r} of its own.\n"
                    "-> Give the argument of your function another name."
                )
        return {**self.controls, **controls}

    def values(self) -> Values:
        """Return what each argument is now: new tensors, without gradients, and new lists."""
        values = {}
        for name in self._order:
            if name in self._fixed:
                value = fresh(self._fixed[name])
            else:
                value = self._makers[name](self.controls[name].value)
            if name in self._plain:
                value = self.controls[name].value if name in self.controls else value.item()
            values[name] = value
        if self._watch is not None:
            for name in self._floats:
                self._watch.follow(values[name], name)
        return values

    @property
    def tensors(self) -> list[str]:
        """The arguments that are tensors in the present run."""
        return [name for name in self._tensors if name not in self._plain]

    @property
    def fixed(self) -> Values:
        """What the arguments without a control begin with, and what is not copied of it is."""
        return self._fixed

    @property
    def are_open(self) -> bool:
        """Whether a run has to show if a float is to be a tensor."""
        return bool(self._floats - self._used)

    def settled(self, once: Callable[[], T], failed: Callable[[T], bool] | None = None) -> T:
        """Run a function, and once more with floats for the arguments that need not be tensors.

        That is what no recorded operation uses and the learner's own code does not test, such as a
        learning rate that an optimizer takes: it is no part of the graph, which shows after a run.

        Parameters
        ----------
        once : callable
            Asks for ``values``, and runs the function with them.
        failed : callable, optional
            Whether a result stands for an error.
        """
        waiting = self._floats - self._used
        self._plain = set()
        if not waiting:
            return once()
        error: Exception | None = None
        self._watch = watch = _Uses()
        try:
            result = once()
        except OutOfBounds:
            raise
        except Exception as caught:
            error = caught
        finally:
            self._watch = None
        self._used |= watch.used & waiting
        self._plain = waiting - watch.used
        if self._plain:
            with suppress(Exception):
                plainly = once()
                if failed is None or not failed(plainly):
                    return plainly
            self._used |= self._plain  # such as that of `x.item()`: it has to be a tensor
            self._plain = set()
        if error is not None:
            raise error
        return result

    def watching(self) -> AbstractContextManager[None]:
        """Find out inside what arguments are used for, if that is asked for."""
        outer, watch = local.mode.observer, self._watch
        return nullcontext() if watch is None else installed(Both(watch, outer or Observer()))

    def call_text(self, name: str, texts: Mapping[str, str]) -> str:
        """Return a call as a learner would write it, of these texts: ``"f(x, n=3)"``."""
        parts = [t if n in self._positional else f"{n}={t}" for n, t in texts.items()]
        return f"{name}({', '.join(parts)})"

    def at(self, name: str, setting: Any) -> Any:
        """Return what an argument would be if its control stood elsewhere."""
        return setting if name in self._plain else self._makers[name](setting)

    def call(self, function: Callable[..., Any], values: Values, *first: Any) -> Any:
        """Call a function with such values; the first arguments may be others."""
        by_name = {n: v for n, v in values.items() if n not in self._positional}
        by_place = {n: values[n] for n in self._positional}
        with self.watching():
            if not first and not is_readable(function):
                return called(function, by_place, by_name)
            return function(*first, *by_place.values(), **by_name)

    def changed(self, values: Values) -> list[str]:
        """Return the arguments that a call has changed in place."""
        fresh = self.values()
        return [name for name in self._order if contents(values[name]) != contents(fresh[name])]

    def words(self, values: Values, names: Sequence[str] | None = None) -> str:
        """Return ``"x = 3.0, times = 2"``, of all arguments that have a control or of these."""
        names_shown = [n for n in self._order if n in (self.controls if names is None else names)]
        texts = {n: spoken(shown(values[n])) for n in names_shown}
        return ", ".join(f"{name} = {text}" for name, text in texts.items())


class _Uses(Observer):
    """Notes which tensors are used by operations that are recorded, or tested by the learner.

    It knows them weakly: memory is measured, too.
    """

    def __init__(self) -> None:
        self.used: set[str] = set()
        self._names: dict[int, tuple[weakref.ref[Any], str]] = {}

    def follow(self, tensor: Any, name: str) -> None:
        """Look for uses of a tensor."""
        if isinstance(tensor, Tensor):
            self._names[id(tensor)] = weakref.ref(tensor), name

    def _name(self, tensor: Any) -> str | None:
        reference, name = self._names.get(id(tensor), (None, ""))
        return name if reference is not None and reference() is tensor else None

    def applied(
        self, op: Op, inputs: Sequence[Any], params: Params, out: Tensor, node: Node | None
    ) -> None:
        """Note a use; what is computed without being recorded, as ``x > 0``, may be tested."""
        for value in inputs:
            name = self._name(value)
            if name is not None and node is None:
                self.follow(out, name)
            elif name is not None and value.requires_grad:  # no number computed of it, unrecorded
                self.used.add(name)

    def branched(self, tensor: Tensor, taken: bool) -> None:
        """Note a test, unless it is one of the kit's own code, such as that of an optimizer."""
        frame: Any = sys._getframe(1)
        while frame is not None and frame.f_code.co_name != "__bool__":
            frame = frame.f_back
        by, name = frame and frame.f_back, self._name(tensor)
        if name is not None and by is not None and not is_foreign(by.f_code.co_filename):
            self.used.add(name)


def no_tensors(arguments: Arguments, function: Callable[..., Any], value: Any = None) -> str:
    """Say that a function did nothing with tensors, and how it gets one."""
    if is_pytorch(value):
        return f"{name_of(function)} returned a tensor of PyTorch itself.\n{OTHER_TENSORS}"
    if isinstance(value, Tensor):
        return _unseen(arguments, name_of(function), value)
    message = f"{name_of(function)} did nothing with tensors"
    if value is not None:
        message += f" and returned {described(value)}"
    name = next((n for n, c in arguments.controls.items() if n not in arguments.tensors), "")
    if arguments.tensors:
        name = arguments.tensors[0]
        return (
            f"{message}, though its argument {name} is one.\n-> Compute with {name} itself: "
            f"without float(), .item() or .numpy(), and torch.sin({name}) in place of "
            f"math.sin({name})."
        )
    if not name:
        return f"{message}.\n-> Give it an argument that is one: def f(x=2.0): ..."
    other = f", and not {name}=2" if type(arguments.controls[name].value) is int else ""
    return f"{message}.\n-> Give it a float, which becomes a tensor: {name}=2.0{other}."


def _unseen(arguments: Arguments, name: str, value: Tensor) -> str:
    """Say of a function that returned a tensor why no operation was seen."""
    if value.grad_fn is not None:
        return (
            f"No operation was seen while {name} ran, though it returned a tensor with a graph: "
            f"that was made before, or in another thread.\n-> Compute it inside {name}, in the "
            "thread that calls it."
        )
    hint = "Give it an argument that is a tensor, def f(x=2.0): ..., and compute with that."
    tensors = [*arguments.tensors, *sorted(arguments._floats)]  # a float is one if it is used
    if tensors:
        hint = f"Compute something with {tensors[0]}, such as {tensors[0]} * 2."
    return (
        f"{name} did no operation on a tensor: the one that it returned was given to it or made "
        f"as it is.\n-> {hint}"
    )


def _keyword(name: str) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY)
