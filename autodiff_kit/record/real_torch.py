"""The same recording from real PyTorch: ``with ak.record(torch) as rec:``.

After reading this file you know which of PyTorch's own means show a run from outside: a function
mode (which call of the learner's), a dispatch mode (which operations it is made of), hooks of
nodes and leaves (what backward does), hooks of optimizers. Nothing is patched, and all hooks are
gone when the block ends. PyTorch is never imported here: the learner hands it in. Read next:
``torch_notes.py``, ``torch_backward.py``, ``torch_functions.py``, ``torch_steps.py``,
``torch_inside.py``, ``torch_func.py``, ``torch_again.py``, ``torch_in_place.py``,
``torch_forward.py``.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, nullcontext
from types import FrameType, FunctionType, ModuleType
from typing import Any

from autodiff_kit.record import rounds
from autodiff_kit.record.notes import learners_frame
from autodiff_kit.record.recording import Recording
from autodiff_kit.record.source_files import is_foreign
from autodiff_kit.record.torch_forward import TorchRecorder
from autodiff_kit.record.torch_ops import flat, schema_of
from autodiff_kit.record.torch_values import is_transformed

__all__ = ["record_torch"]

_BUILT_IN = {type(str.join), type(len)}  # methods and functions that are written in C
gettrace, settrace, tracer = sys.gettrace, sys.settrace, rounds.tracer


class record_torch:
    """Record what real PyTorch does inside a ``with`` block; ``ak.record(torch)`` makes one.

    Parameters
    ----------
    torch : module
        PyTorch.
    limit : int, default 200_000
        As for ``record``.

    Raises
    ------
    TypeError
        If ``torch`` is another module, or one without the means that recording needs.
    """

    def __init__(self, torch: Any, *, limit: int = 200_000) -> None:
        if not (isinstance(torch, ModuleType) and torch.__name__ == "torch"):
            what = torch.__name__ if isinstance(torch, ModuleType) else type(torch).__name__
            raise TypeError(
                f"record can watch this kit or PyTorch, and this is {what}.\n"
                "-> import torch, and write `with ak.record(torch) as rec:`. Without PyTorch, "
                "`with ak.record() as rec:` records the kit itself."
            )
        try:  # parts of PyTorch that `import torch` has loaded
            self._function_mode = sys.modules["torch.overrides"].TorchFunctionMode
            self._dispatch_mode = sys.modules["torch.utils._python_dispatch"].TorchDispatchMode
        except (KeyError, AttributeError):
            raise TypeError(
                f"This PyTorch ({getattr(torch, '__version__', 'of no version')}) cannot be "
                "watched: it has no function and dispatch modes.\n-> Use PyTorch 2.1 or newer."
            ) from None
        self.torch, self.limit = torch, limit

    def __enter__(self) -> Recording:
        self._recorder = TorchRecorder(self.torch, self.limit, learners_frame(sys._getframe(1)))
        functions, operations = _modes(
            self._function_mode, self._dispatch_mode, self._recorder, self.torch
        )
        with ExitStack() as stack:
            stack.callback(self._recorder.leave)
            stack.enter_context(self._recorder.optimizers())
            stack.enter_context(functions)
            stack.enter_context(operations)
            self._exit = stack.pop_all()
        self._recorder.begin()
        return self._recorder.recording

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        self._exit.close()
        if error is not None:
            self.failed(error)
        self._recorder.finish()
        del self._recorder, self._exit

    def failed(self, error: BaseException) -> None:
        """Note the exception that ended the run, with the learner's line that raised it."""
        self._recorder.failed(error)


def _modes(functions: Any, operations: Any, recorder: TorchRecorder, torch: Any) -> Any:
    """Return the two modes: one for the learner's calls, one for the operations they consist of."""
    backward = {
        torch.Tensor.backward: inspect.signature(torch.Tensor.backward),
        torch.autograd.backward: inspect.signature(torch.autograd.backward),
        torch.autograd.grad: inspect.signature(torch.autograd.grad),
    }
    # PyTorch itself sets it while it makes a new node of a view whose base has changed, and holds
    # a lock of that view: who asks the view for its node then waits for ever.
    set_hooks = torch.Tensor._backward_hooks.__set__
    passive = {set_hooks, *_questions(torch)}
    attributes = ("__set__", "__delete__")
    read_grad = torch.Tensor.grad.__get__

    at_work, packing = recorder.at_work, recorder.packing
    aside = torch._C.DisableTorchFunction

    class Calls(functions):  # type: ignore[misc]
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            kwargs = kwargs or {}
            if at_work.depth:
                return func(*args, **kwargs)
            if func in passive:
                if func == read_grad and not (args[0].is_leaf or args[0].retains_grad):
                    return _warned_at(sys._getframe(1), func, args)
                return func(*args, **kwargs)
            if func in backward:
                recorder.settle()
                bound = backward[func].bind(*args, **kwargs)
                arguments = dict(bound.arguments)
                # torch.func.grad at work: to PyTorch, its own graph is inside of a transform.
                is_inside = any(map(is_transformed, flat((arguments.get("outputs"),))))
                if is_inside or recorder.is_in_function(sys._getframe(1)):
                    with recorder.inside_transform() if is_inside else nullcontext():
                        return func(*args, **kwargs)
                with recorder.backward(arguments), _Seeds(self, bound):
                    out = func(*bound.args, **bound.kwargs)
                if "outputs" in arguments:
                    recorder.results(arguments["inputs"], out)
                return out
            if recorder.is_aside and getattr(func, "__name__", "") not in attributes:
                return func(*args, **kwargs)
            traces = gettrace() is tracer
            if traces:  # what the recorder itself does need not be traced
                settrace(None)
            direct = not is_foreign(sys._getframe(1).f_code.co_filename)
            entered, has_worked, out = (
                recorder.call(func, args or (*kwargs.values(),), direct),
                False,
                None,
            )
            # A function in Python, and a hook that packs, may call the learner's code.
            is_seen = traces and not (type(func) in _BUILT_IN and packing and packing(True) is None)
            try:
                if is_seen:
                    settrace(tracer)
                out = func(*args, **kwargs)
                has_worked = True
            finally:
                if is_seen and gettrace() is tracer:
                    settrace(None)
                recorder.end_call(entered, args, out, has_worked=has_worked)
                if has_worked:
                    recorder.called(func, args, out, direct)
                if traces:
                    settrace(tracer)
            return out

    class Operations(operations):  # type: ignore[misc]
        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # else the first operation would load the compiler: some seconds

        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            kwargs = kwargs or {}
            if at_work.depth:
                return func(*args, **kwargs)
            traces = gettrace() is tracer
            if traces:
                settrace(None)
            try:
                if recorder.is_aside:
                    out = func(*args, **kwargs)
                    recorder.ran_aside(func, args, out)
                elif recorder.is_running:
                    with aside():
                        out = _run(recorder, func, args, kwargs)
                else:
                    out = _run(recorder, func, args, kwargs)
            finally:
                if traces:
                    settrace(tracer)
            return out

    return Calls(), Operations()


def _run(recorder: TorchRecorder, func: Any, args: Any, kwargs: Any) -> Any:
    """Run an operation and note it; its operands before it changes them, or if it fails."""
    schema = schema_of(func)
    if schema.may_change:
        recorder.announced(schema, args)
    try:
        out = func(*args, **kwargs)
    except BaseException:
        if not schema.may_change:
            recorder.announced(schema, args)
        raise
    recorder.ran(schema, args, kwargs, out)
    return out


def _questions(torch: Any) -> Iterator[Any]:
    """Yield what only asks a tensor for something, and so is nothing to tell of."""
    kind = torch.Tensor
    for name in (
        *("_version", "device", "dtype", "grad", "is_leaf", "is_meta", "is_nested"),
        *("is_quantized", "is_sparse", "layout", "ndim", "requires_grad", "shape"),
    ):
        yield getattr(kind, name).__get__
    for name in ("data_ptr", "dim", "is_complex", "is_floating_point", "numel", "size", "stride"):
        yield getattr(kind, name)


def _call(func: Any, args: Any) -> Any:
    return func(*args)


def _warned_at(frame: FrameType, func: Any, args: Any) -> Any:
    """Call what warns of a line, so that it names that of the learner: PyTorch asks for the frame.

    Its warning is not given by Python, and has no ``stacklevel``.
    """
    first = frame.f_lineno - 1  # the call is a line below
    code = _call.__code__.replace(co_filename=frame.f_code.co_filename, co_firstlineno=first)
    call = FunctionType(code, frame.f_globals)
    trace = gettrace()
    settrace(None)  # it is no code of theirs
    try:
        return call(func, args)
    finally:
        settrace(trace)


class _Seeds:
    """The gradients that a backward pass begins with; once PyTorch asks, a mode is active again.

    PyTorch switches the mode off around a call that the mode is told of. What the learner's code
    does in the middle of a backward pass, in hooks and Functions, is to be seen all the same, and
    the engine runs it in the modes that are active when it starts.
    """

    _names = ("gradient", "grad_tensors", "grad_outputs")

    def __init__(self, mode: Any, bound: inspect.BoundArguments) -> None:
        self._mode, self._is_active = mode, False
        arguments = bound.arguments
        roots = next(iter(arguments.values()))
        name = next(name for name in self._names if name in bound.signature.parameters)
        gradients = arguments.get(name)
        if gradients is None and arguments.get("grad_variables") is None:
            gradients = (None,) * (len(roots) if isinstance(roots, tuple | list) else 1)
        self._gradients: Any = (gradients,) if hasattr(gradients, "grad_fn") else gradients
        if self._gradients is not None and not isinstance(roots, Iterator | Mapping):
            arguments[name] = self

    def __iter__(self) -> Iterator[Any]:
        gradients = iter(self._gradients)
        self._mode.__enter__()
        self._is_active = True
        return gradients

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        if self._is_active:
            self._mode.__exit__(*error)
