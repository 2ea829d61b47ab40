"""A static graph beside the dynamic one: run a function once, keep its operations, replay them.

After reading this file you know what a framework gains by fixing the graph - no nodes, no
questions, nothing computed in vain - and what it loses: whatever Python decided during the one run
is decided for good. ``StaticGraph.frozen`` names these decisions, with their lines. The program
that is replayed is Python, too: print ``graph.program``. Read next: ``ops/table.py``, whose
operations and rules are the same for both.
"""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Callable, Sequence
from os.path import dirname
from typing import Any, NamedTuple

import numpy as np

from autodiff_kit import ops
from autodiff_kit.autograd.grad_mode import enable_grad
from autodiff_kit.core.base import wrap
from autodiff_kit.core.mode import local
from autodiff_kit.core.node import Node
from autodiff_kit.core.observer import Both, Observer, installed
from autodiff_kit.core.op import OPS, Op, Params
from autodiff_kit.errors import error
from autodiff_kit.free_form import Namespace
from autodiff_kit.ops.fast import forward_of
from autodiff_kit.tensor import Tensor

__all__ = ["Frozen", "StaticGraph"]


class Frozen(NamedTuple):
    """Something that Python decided while the function was traced."""

    kind: str  # "branch": a tensor's truth value; "tensor": one made inside; "shape": of an input
    what: str  # in words
    where: str  # the line; empty for inputs

    def __str__(self) -> str:
        return f"{self.what} ({self.where})" if self.where else self.what


class _Step(NamedTuple):
    """One operation of the program; values are known by their numbers."""

    op: Op
    inputs: tuple[Any, ...]  # numbers of values, or a plain number in a tuple
    params: Params
    outs: list[int]  # the result, and the by-products; or all outputs
    recorded: bool  # whether gradients flow through it

    @property
    def differentiable(self) -> list[int]:
        """Those of ``outs`` that may have a gradient."""
        return self.outs if self.op.several else self.outs[:1]


class StaticGraph:
    """The operations of one run of a function, to be replayed on other values.

    Made by ``StaticGraph.trace``. Inputs must keep the shapes and dtypes of the examples. Tensors
    from outside the function take part with the values they have at the time of each run.

    Attributes
    ----------
    frozen : tuple of Frozen
        What the one run has decided for all later ones.
    program : str
        The replayed program: forward, then the rules backward.
    """

    def __init__(self, trace: _Trace, outputs: Sequence[Tensor], single: bool) -> None:
        self.frozen = tuple(trace.frozen)
        self._inputs = [(t._array.shape, t._array.dtype, t.requires_grad) for t in trace.examples]
        self._outside, self._single = trace.outside, single
        self._outputs = [trace.number_of(output) for output in outputs]
        self._steps = _needed(trace.steps, set(self._outputs))
        self.removed = len(trace.steps) - len(self._steps)
        compiler = _Compiler(trace, self._steps)
        forward = compiler.forward(self._outputs)
        self._run = compiler.compiled("run", forward, self._outputs)
        self._lines: list[str] = []
        self._differentiate: Callable[..., Any] | None = None
        if single and outputs[0].requires_grad and outputs[0]._array.size == 1:
            self._lines, gradients = compiler.backward(self._outputs[0])
            everything = [*forward, *self._lines]
            results = [self._outputs[0], *gradients]
            self._differentiate = compiler.compiled("gradient", everything, results)
        self.program = compiler.text

    @classmethod
    def trace(cls, function: Callable[..., Any], *examples: Tensor) -> StaticGraph:
        """Run ``function``, of tensors to a tensor or a tuple of them, and keep what it did.

        TypeError if something other than tensors goes in or comes out. RuntimeError if the function
        takes a number out of a tensor (``item()``, ``float(x)`` ...), changes a tensor from outside
        in place, or runs backward: a replay could not do the same. The line is named.
        """
        for i, example in enumerate(examples):
            if not isinstance(example, Tensor):
                raise error("static.example_type", index=i, kind=type(example).__name__)
        trace = _Trace(examples)
        outer = local.mode.observer
        with installed(trace if outer is None else Both(outer, trace)), enable_grad():
            result = function(*examples)
        outputs = result if isinstance(result, tuple) else (result,)
        for output in outputs:
            if not isinstance(output, Tensor):
                raise error("static.output_type", kind=type(output).__name__)
        return cls(trace, outputs, not isinstance(result, tuple))

    def run(self, *inputs: Tensor) -> Any:
        """Replay the operations on other values; return what the traced function gave, as leaves.

        TypeError or RuntimeError if number, shapes or dtypes are not those of the examples.
        """
        values = local.mode.quietly(self._run, *self._arrays(inputs))
        tensors = tuple(wrap(value) for value in values)
        return tensors[0] if self._single else tensors

    def gradient(self, *inputs: Tensor) -> tuple[Tensor, tuple[Tensor | None, ...]]:
        """Replay the operations, and then their rules.

        Return the value, of one element, and its gradients with respect to the inputs: None for
        those whose example did not require grad. Errors are those of ``run``, and RuntimeError if
        the traced function does not give one number to differentiate.
        """
        if self._differentiate is None:
            raise error("static.no_gradient")
        value, *gradients = local.mode.quietly(self._differentiate, *self._arrays(inputs))
        owned: set[int] = set()
        results = (wrap(_own(gradient, owned)) for gradient in gradients)
        return wrap(value), tuple(
            next(results) if requested else None for _, _, requested in self._inputs
        )

    def _arrays(self, inputs: tuple[Tensor, ...]) -> list[Any]:
        if len(inputs) != len(self._inputs):
            raise error("static.input_count", expected=len(self._inputs), got=len(inputs))
        arrays = []
        for i, (tensor, (shape, dtype, _)) in enumerate(zip(inputs, self._inputs, strict=True)):
            if not isinstance(tensor, Tensor):
                raise error("static.input_type", index=i, kind=type(tensor).__name__)
            array = tensor._array
            if array.shape != shape or array.dtype != dtype:
                was, now = f"{dtype} {list(shape)}", f"{array.dtype} {list(array.shape)}"
                raise error("static.input_shape", index=i, was=was, now=now)
            arrays.append(array)
        return [*arrays, *(tensor._array for tensor in self._outside)]

    def __repr__(self) -> str:
        frozen = "".join(f"\n  {item}" for item in self.frozen)
        return f"StaticGraph({len(self._steps)} operations, frozen:{frozen or ' nothing'})"


class _Trace(Observer):
    """Writes down the operations of a run; every tensor gets a number."""

    def __init__(self, examples: Sequence[Tensor]) -> None:
        self.examples = examples
        self.steps: list[_Step] = []
        self.frozen: list[Frozen] = []
        self.outside: list[Tensor] = []
        self.constants: dict[int, Any] = {}
        self.values: list[Any] = []  # by number: the arrays of this one run
        self._numbers: dict[int, tuple[Tensor, int]] = {}  # holds the tensors: ids stay theirs
        for i, tensor in enumerate(examples):
            self._new(tensor)
            sizes = f"input {i} has shape {list(tensor.shape)} and dtype {tensor.dtype}"
            self.frozen.append(Frozen("shape", sizes, ""))

    def number_of(self, tensor: Tensor) -> int:
        """Return the number of a tensor; one that was there before comes from outside."""
        entry = self._numbers.get(id(tensor))
        if entry is not None:
            return entry[1]
        for step in self.steps:  # indices, for example, that an op gave besides its result
            for number in step.outs[1:]:
                if tensor._array is self.values[number]:
                    self._numbers[id(tensor)] = tensor, number
                    return number
        for other, number in self._numbers.values():  # x.detach(): the same memory, no history
            if tensor._node is None and _is_same_memory(tensor._array, other._array):
                self._numbers[id(tensor)] = tensor, self._cut(number, tensor)
                return self._numbers[id(tensor)][1]
        self.outside.append(tensor)
        return self._new(tensor)

    def _new(self, tensor: Tensor) -> int:
        number = len(self.values)
        self.values.append(tensor._array)
        self._numbers[id(tensor)] = tensor, number
        return number

    def _cut(self, number: int, tensor: Tensor) -> int:
        self.values.append(tensor._array)
        self.steps.append(_Step(ops.alias.op, (number,), {}, [len(self.values) - 1], False))
        return len(self.values) - 1

    def created(self, tensor: Tensor) -> None:
        """Freeze a tensor that the function makes itself."""
        self.constants[self._new(tensor)] = tensor._array.copy()
        description = f"a tensor of shape {list(tensor.shape)} keeps the values it was made with"
        self.frozen.append(Frozen("tensor", description, _where()))

    def applied(
        self, op: Op, inputs: Sequence[Any], params: Params, out: Tensor, node: Node | None
    ) -> None:
        """Write an operation down."""
        if OPS.get(op.name) is not op:
            raise error("static.custom_function", name=op.node_name, where=_where())
        if params.get("index") and op.several:  # a further output of the same operation
            self.steps[-1].outs.append(self._new(out))
            return
        numbers = tuple(
            self.number_of(value) if isinstance(value, Tensor) else (value,) for value in inputs
        )
        params = {name: value for name, value in params.items() if name in op.params}
        self.steps.append(_Step(op, numbers, params, [self._new(out)], node is not None))

    def returned(self, out: Tensor, array: Any) -> None:
        """Know a further result of the latest operation."""
        self.steps[-1].outs.append(len(self.values))
        self.values.append(array)

    def copied(self, tensor: Tensor, copy: Tensor) -> None:
        """Know the copy of a tensor that is about to be changed in place."""
        self._numbers[id(copy)] = copy, self.number_of(tensor)

    def modified(self, tensor: Tensor, how: str) -> None:
        """Let a tensor stand for its new value from now on."""
        number = self.number_of(tensor)
        from_outside = any(tensor is other for other in (*self.examples, *self.outside))
        shared = tensor._base is not None or getattr(tensor, "_views", None)
        if from_outside or shared or number in self.constants:
            raise error("static.in_place", how=how, where=_where())
        self._numbers[id(tensor)] = tensor, self.steps[-1].outs[0]

    def statistics_moved(self, tensor: Tensor, how: str) -> None:
        """Refuse: a replay leaves a layer's buffers as they are."""
        if layer := _layer():
            raise error("static.layer_in_place", layer=layer, where=_where())
        raise error("static.in_place", how=how, where=_where())

    def branched(self, tensor: Tensor, taken: bool) -> None:
        """Freeze the branch that Python takes."""
        what = f"a tensor was {taken}, and Python went on accordingly"
        self.frozen.append(Frozen("branch", what, _where()))

    def left(self, tensor: Tensor, how: str) -> None:
        """Refuse to follow a value out of the tensors."""
        raise error("static.left", how=how, where=_where())

    def backward_started(self, roots: Sequence[tuple[Node, Any]]) -> None:
        """Refuse: rules are replayed by ``gradient``."""
        raise error("static.backward", where=_where())


def _is_same_memory(x: Any, y: Any) -> bool:
    if x is y or not (isinstance(x, np.ndarray) and isinstance(y, np.ndarray)):
        return x is y
    same_form = x.shape == y.shape and x.strides == y.strides and x.dtype == y.dtype
    return same_form and x.size > 0 and x.ctypes.data == y.ctypes.data


def _own(array: Any, owned: set[int]) -> Any:
    """Return an array without another reference: ``x + y`` gives both the same gradient."""
    if id(array) in owned or getattr(array, "base", None) is not None:
        array = array.copy()
    owned.add(id(array))
    return array


def _where() -> str:
    """Return the learner's line: the innermost outside of the kit."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(dirname(__file__)):
        frame = frame.f_back
    if frame is None:
        return ""
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
    return f"line {frame.f_lineno}: {line}" if line else f"line {frame.f_lineno}"


def _layer() -> str:
    """Return the class of the kit's layer whose own code runs now; "" if it is the learner's."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(dirname(__file__)):
        if frame.f_code.co_name == "forward" and "self" in frame.f_locals:
            return type(frame.f_locals["self"]).__name__
        frame = frame.f_back
    return ""


def _needed(steps: list[_Step], outputs: set[int]) -> list[_Step]:
    """Return the steps that the outputs depend on: the others are dead code."""
    numbers, steps_needed = set(outputs), []
    for step in reversed(steps):
        if not numbers.isdisjoint(step.outs):
            numbers.update(number for number in step.inputs if isinstance(number, int))
            steps_needed.append(step)
    return steps_needed[::-1]


def _unbroadcast(g: Any, shape: tuple[int, ...]) -> Any:
    """Sum a cotangent over the copies that broadcasting has made of an input of this shape."""
    return ops.sum_to(g, shape=shape)


class _Compiler:
    """Puts the text of the replayed program together: Python without a question in it."""

    def __init__(self, trace: _Trace, steps: list[_Step]) -> None:
        self._values, self._steps = trace.values, steps
        self._arguments = [*range(len(trace.examples)), *map(trace.number_of, trace.outside)]
        self._active = {i for i, example in enumerate(trace.examples) if example.requires_grad}
        self._inputs = sorted(self._active)
        self._names: Namespace = {"unbroadcast": _unbroadcast}
        self._names |= {f"v{number}": array for number, array in trace.constants.items()}
        self.text = ""

    def compiled(self, name: str, lines: list[str], results: list[Any]) -> Callable[..., Any]:
        """Compile lines to a function of the inputs, then the tensors from outside."""
        names = [r if isinstance(r, str) else f"v{r}" for r in results]
        arguments = ", ".join(f"v{number}" for number in self._arguments)
        body = _freeing([*lines, f"return [{', '.join(names)}]"], keep=set(self._names))
        text = "\n    ".join([f"def {name}({arguments}):", *body]) + "\n"
        self.text += ("\n" if self.text else "") + text
        namespace: Namespace = {}
        exec(text, self._names, namespace)
        function: Callable[..., Any] = namespace[name]
        return function

    def forward(self, outputs: list[int]) -> list[str]:
        """Return one line per operation."""
        lines = []
        for step in self._steps:
            self._names[step.op.name] = forward_of(step.op)
            arguments = [self._value(number) for number in step.inputs]
            keywords = step.op.defaults | step.params
            arguments += [f"{name}={self._literal(value)}" for name, value in keywords.items()]
            outs = [f"v{number}" for number in step.outs]
            outs += ["_"] * (len(step.op.results) - len(outs))
            targets = ", ".join(outs) + "," * (step.op.several and len(outs) == 1)
            lines.append(f"{targets} = {step.op.name}({', '.join(arguments)})")
        return lines

    def backward(self, output: int) -> tuple[list[str], list[str]]:
        """Return the lines that apply the rules, and the names of the inputs' gradients.

        The rules are tried on the values of the traced run, which tells where broadcasting must
        be undone: the shapes are frozen anyway.
        """
        for step in self._steps:  # which values depend on an input that wants a gradient
            if step.recorded and any(n in self._active for n in step.inputs if type(n) is int):
                self._active.update(step.differentiable)
        seed = np.ones_like(self._values[output])[()]
        gradients: dict[int, Any] = {output: seed}
        values = {f"v{number}": value for number, value in enumerate(self._values)}
        lines = [f"g{output} = {self._literal(seed)}"]
        for step in reversed(self._steps):
            outs = [n for n in step.differentiable if n in self._active and n in gradients]
            if not outs:
                continue
            g = f"g{outs[0]}"
            if step.op.several:
                g = f"{{{', '.join(f'{step.outs.index(n)}: g{n}' for n in outs)}}}"
            values |= {f"g{n}": gradients[n] for n in outs}
            for position, number in enumerate(step.inputs):
                wrt = step.op.inputs[0 if step.op.is_variadic else position]
                if type(number) is not int or number not in self._active:
                    continue
                if wrt not in step.op.rules:
                    continue
                rule, name = step.op.rules[wrt], f"{step.op.name}_vjp_{wrt}"
                self._names[name] = rule.function
                reads = [self._read(step, position, read) for read in rule.reads]
                call = f"{name}({', '.join([g, *reads])})"
                contribution = local.mode.quietly(eval, call, self._names, values)
                shape = np.shape(self._values[number])
                if contribution.shape != shape:
                    contribution = _unbroadcast(contribution, shape)
                    call = f"unbroadcast({call}, {shape})"
                before = f"g{number} + " if number in gradients else ""
                lines.append(f"g{number} = {before}{call}")
                total = gradients[number] + contribution if before else contribution
                gradients[number] = total
        for number in self._inputs:
            if number not in gradients:
                gradients[number] = np.zeros_like(self._values[number])[()]
                lines.append(f"g{number} = {self._literal(gradients[number])}")
        return lines, [f"g{number}" for number in self._inputs]

    def _value(self, number: Any) -> str:
        return f"v{number}" if type(number) is int else self._literal(number[0])

    def _literal(self, value: Any) -> str:
        """Return Python text for a frozen value, or the name under which it is known."""
        if value is None or isinstance(value, bool | int | str):
            return repr(value)
        if isinstance(value, float) and type(value) is float and np.isfinite(value):
            return repr(value)
        if isinstance(value, tuple) and all(type(part) is int for part in value):
            return repr(value)
        name = f"c{len(self._names)}"
        self._names[name] = value
        return name

    def _read(self, step: _Step, position: int, name: str) -> str:
        """Return the text of what a rule reads under ``name``."""
        op = step.op
        numbers = dict(zip(op.inputs, step.inputs, strict=False)) if not op.is_variadic else {}
        numbers |= dict(zip(op.results, step.outs, strict=False))
        if name in numbers:
            return self._value(numbers[name])
        params = op.defaults | step.params
        if name in params:
            return self._literal(params[name])
        if name == "index":
            return repr(position)
        owner, _, what = name.rpartition("_")
        if op.is_variadic:
            return repr(tuple(np.shape(self._values[number]) for number in step.inputs))
        number = numbers[owner]
        value = self._values[number] if type(number) is int else number[0]
        return self._literal(np.shape(value) if what == "shape" else getattr(value, what, None))


def _freeing(lines: list[str], keep: set[str]) -> list[str]:
    """Free every value after the line that uses it last, as a dynamic run would."""
    known_names, freeing = set(keep), []
    for line in reversed(lines):
        names = dict.fromkeys(re.findall(r"\b[vg]\d+\b", line))
        last = [name for name in names if name not in known_names]
        known_names.update(names)
        if last and not line.startswith("return"):
            freeing.append(f"del {', '.join(last)}")
        freeing.append(line)
    return freeing[::-1]
