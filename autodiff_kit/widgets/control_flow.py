"""The control-flow lab: change an argument, and see how the graph becomes another one.

After reading you know what happens at each change of a control: the function runs under a recorder,
the new graph is drawn over that of the run before, and a trace, frozen at the arguments at which
it was switched on, answers the same question beside it. It runs twice, so that a function that
answers otherwise each time is known (``distrust.py``). Read next: ``view/difference.py``, how two
graphs are laid over each other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from autodiff_kit.record.events import RecordingData
from autodiff_kit.record.recording import Recording
from autodiff_kit.record.values import summary
from autodiff_kit.static import StaticGraph
from autodiff_kit.tensor import Tensor
from autodiff_kit.view.difference import Branch, Difference, branches, difference, mark_lines
from autodiff_kit.view.panels import Marked, Panel, graph, listing, page, words
from autodiff_kit.view.values import show
from autodiff_kit.view.words import listed, sentence, spoken
from autodiff_kit.widgets.arguments import Arguments, Values
from autodiff_kit.widgets.controls import Choice, Slider, Switch
from autodiff_kit.widgets.distrust import Examined
from autodiff_kit.widgets.function_lab import FunctionLab
from autodiff_kit.widgets.function_source import text_around
from autodiff_kit.widgets.lab import Settings
from autodiff_kit.widgets.running import first_words, fresh_grads, name_of, run

__all__ = ["ControlFlow", "Frozen", "in_words", "same_answer"]

_HELP = {
    "over": "The run that this one is compared with. A tick on a slider marks its value.",
    "gradients": "Show what backward() on the answer computes: at each arrow the local slope, and "
    "the gradient that is passed on.",
    "frozen": "Beside the function, replay a trace that is made when you turn this on, of the "
    "arguments as they are then.",
}
_HEADING = "The trace, frozen when it was switched on"


class _Run(NamedTuple):
    """One run of the function: with what, what happened, what came of it."""

    arguments: Values  # as they were
    values: Values  # as the function has left them
    recording: Recording
    answer: Tensor
    grads: dict[str, Tensor | None]
    failure: str  # what backward has raised, if anything
    settings: Settings  # of the controls of the arguments


class ControlFlow(FunctionLab):
    """A function with controls for its arguments, and its graph drawn over the one before.

    The function runs twice at each change, so that the lab can say if it does not answer the same
    with the same arguments.

    Parameters
    ----------
    function : callable
        Takes what you like and returns a tensor. A float becomes a slider that makes tensors which
        require a gradient, an int a slider of ints, a bool a checkbox; a ``Literal``, an ``Enum``
        or a list of examples a choice; a tensor of one number a slider that makes such tensors;
        other values are used as they are.
    frozen : bool, default False
        Begin with the frozen trace shown. It is made of the arguments as they are when its switch
        is turned on; to freeze others, turn it off and on again.
    then : dict from str to anything, optional
        Controls to change after the first run, so that there is something to compare.
    **examples
        What to begin with, by argument; where there is none, the argument's default.

    Attributes
    ----------
    recording : Recording
        Of the latest run without an error; empty while there is none.
    difference : Difference or None
        What was added, removed and unchanged between the run it is compared with and that one.
    answer : Tensor or None
        What the function returned; None while no run came to its end.
    grads : dict from str to (Tensor or None)
        ``.grad`` of each argument that requires one, after ``backward()`` on the answer; empty if
        that is not one number with a graph.

    Raises
    ------
    TypeError
        If ``function`` is none, or an argument has nothing to begin with.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> lab = ControlFlow(lambda x: x * 2 if x > 0 else -x, x=torch.tensor(1.0))
    >>> lab.controls["x"].value = -1.0
    >>> lab.difference.went, lab.difference.came
    (('x * 2',), ('-x',))
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        frozen: bool = False,
        then: Settings | None = None,
        **examples: Any,
    ) -> None:
        self.recording = Recording()
        self.answer: Tensor | None = None
        self.difference: Difference | None = None
        self.grads: dict[str, Tensor | None] = {}
        self._runs: list[Examined[_Run]] = []  # the first, the last but one, the last
        self._frozen: Frozen | None = None
        self._over = Choice(
            ["the run before", "the first run", "nothing"],
            description="drawn over",
            help=_HELP["over"],
        )
        switch = Switch(frozen, description="frozen trace beside it", help=_HELP["frozen"])
        self._with_gradients = Switch(True, description="gradients", help=_HELP["gradients"])
        self._settings: Any = None
        arguments = Arguments(function, examples)
        controls = {"over": self._over, "gradients": self._with_gradients, "frozen": switch}
        title = f"Control flow of {name_of(function)}"
        super().__init__(function, arguments, controls, then=then, title=title)
        self.canvas.add_class("adk-caption-first")  # in view, whatever the height of the graph

    def draw(self) -> None:
        """Run the function if its arguments have changed, and draw what it did."""
        if not self.controls["frozen"].value:
            self._frozen = None  # switched on again, it is made anew
        settings = tuple(control.value for control in self._arguments.controls.values())
        if not self._runs or settings != self._settings:
            latest = self._examined(
                self._once,
                lambda run: run.answer,
                lambda run: run.recording,
                lambda run: run.values,
            )
            self._settings = settings
            self._runs = [*self._runs[:1], *self._runs[-1:], latest][-3:]
        self._show(self._arguments.values())

    def _once(self) -> _Run:
        arguments, values = self._arguments.values(), self._arguments.values()

        def there_and_back() -> tuple[Any, dict[str, Tensor | None], str]:
            value = self._arguments.call(self._function, values)
            return value, *self._gradients(values, value)

        (value, grads, failure), recording = run(there_and_back, of=self._function)
        answer = self._answer(value, has_run=bool(recording.nodes))
        settings = {name: control.value for name, control in self._arguments.controls.items()}
        return _Run(arguments, values, recording, answer, grads, failure, settings)

    def _gradients(self, values: Values, answer: Any) -> tuple[dict[str, Tensor | None], str]:
        """Run backward on the answer if it can be run; return also what it raised."""
        names = [name for name in self._arguments.tensors if _wants(values[name])]
        if not names or not _wants(answer) or answer.numel() != 1:
            return {}, ""
        try:
            with fresh_grads():
                answer.backward()
                return {name: values[name].grad for name in names}, ""
        except RuntimeError as error:  # such as after a change in place, or a backward of its own
            return {}, first_words(error)

    def _show(self, values: Values) -> None:
        latest = before = self._runs[-1]
        if self._over.value == "the first run":
            before = self._runs[0]
        elif self._over.value == "the run before" and len(self._runs) > 1:
            before = self._runs[-2]
        now, was = latest.first, before.first
        has_gradients = self._with_gradients.value and not now.failure
        changes = difference(was.recording, now.recording, gradients=has_gradients)
        tests = branches(now.recording)
        caption = self._caption(changes, latest, before, tests)
        left, right = self._panels(changes, tests, now, was)
        if self.controls["frozen"].value and not latest.differs:
            self._frozen = self._frozen or Frozen(self._function, self._arguments, values)
            sentences, panel = self._frozen.beside(values, now.answer)
            caption += " " + sentence(sentences)
            look = "" if ", the same" in sentences else "wrong"
            width = max(left[0].width, 300.0)
            left.append(words(_HEADING, sentence(sentences), width, look))
            left.append(panel)
        elif self.controls["frozen"].value:
            caption += " So there is no trace to compare with: it would replay one run as it was."
        svg = page([left, right], title=f"Graph of {name_of(self._function)}", description=caption)
        for name, control in self._arguments.controls.items():  # a tick where the other run was
            if isinstance(control, Slider):
                is_other = was.settings[name] != now.settings[name]
                control.mark = was.settings[name] if is_other else None
        self.recording, self.answer, self.difference = now.recording, now.answer, changes
        self.grads = now.grads
        self.canvas.svg, self.canvas.caption = svg, caption

    def _panels(
        self, changes: Difference, tests: list[Branch], now: _Run, was: _Run
    ) -> tuple[list[Panel], list[Panel]]:
        left = []
        text = text_around(now.recording, self._lines, self._first_line)
        if self._lines:
            lines = mark_lines(self._lines, self._first_line, text, tests, changes)
            left.append(listing("Your code, and the branches that ran", lines))
        else:
            left.append(words("Your code", "The source of this function cannot be read."))
        heading = "The graph of this run"
        if now is not was:
            names = self._changed(was, now)
            before, after = (self._arguments.words(one.arguments, names) for one in (was, now))
            heading = f"The graph at {after}, drawn over that at {before}"
            if not after or len(heading) > 58:
                heading = f"The graph of this run, drawn over {self._over.value}"
        return left, [graph(heading, changes.picture, changes.edges)]

    def _changed(self, was: _Run, now: _Run) -> list[str]:
        """Return the arguments that differ between two runs."""
        words = self._arguments.words
        controls = self._arguments.controls
        return [n for n in controls if words(was.arguments, [n]) != words(now.arguments, [n])]

    def _caption(
        self,
        changes: Difference,
        latest: Examined[_Run],
        before: Examined[_Run],
        tests: list[Branch],
    ) -> str:
        now, was = latest.first, before.first
        parts = [doubt] if (doubt := latest.doubt) else []
        if latest.differs:
            parts.append(f"This run: the answer is {_result(now)}")
        elif latest is before or before.differs:
            parts.append(f"The answer is {_result(now)}")
        else:
            parts.append(changes.sentence())
            if _has_numbers_of(was, now):
                parts.append(f"The answer is still {_result(now)}")
            elif _result(was) == _result(now):
                parts.append(f"The answer has changed, though it is shown as {_result(now)} again")
            else:
                at = self._arguments.words(was.arguments, self._changed(was, now))
                begin = f"At {at} the" if at else "The"
                parts.append(f"{begin} answer was {_result(was)}")
                parts.append(f"Now it is {_result(now)}")
        if now.failure:
            parts.append(f"There is no gradient: backward() on it raises {now.failure}")
        for branch in tests[:2]:
            parts.append(f"Line {branch.line}: {branch.text} {branch.note()}")
        return " ".join(sentence(part) for part in parts)


def _wants(value: Any) -> bool:
    return isinstance(value, Tensor) and value.requires_grad


def in_words(value: Tensor | None) -> str:
    """Return a tensor as it is written inside a sentence: ``8.0``."""
    return "None" if value is None else spoken(show(summary(value._array)))


def _has_numbers_of(one: _Run, other: _Run) -> bool:
    """Return whether answers and gradients are equal to the last digit; nan is nan, -0.0 is 0.0."""
    if [*one.grads] != [*other.grads]:
        return False
    ones, others = ([run.answer, *run.grads.values()] for run in (one, other))
    return all(
        a is b or (a is not None and b is not None and _is_equal(a, b))
        for a, b in zip(ones, others, strict=True)
    )


def _is_equal(one: Tensor, other: Tensor) -> bool:
    return np.array_equal(one.detach()._array, other.detach()._array, equal_nan=True)


def _result(run: _Run) -> str:
    """Return "4.0, and x.grad is 4.0"."""
    grads = [f"{name}.grad {in_words(grad)}" for name, grad in run.grads.items()]
    return f"{in_words(run.answer)}{', with ' * bool(grads)}{listed(grads) if grads else ''}"


class Frozen:
    """A trace of one run, asked the same as the function is.

    Parameters
    ----------
    function : callable
    arguments : Arguments
    values : dict
        The arguments of the run that is traced. Those that are no tensors are frozen, too.
    """

    def __init__(self, function: Callable[..., Any], arguments: Arguments, values: Values) -> None:
        self.names = arguments.tensors
        self.values = values
        self.made_with = arguments.words(values)

        def traced(*tensors: Tensor) -> Any:
            arguments_now = {**values, **dict(zip(self.names, tensors, strict=True))}
            return arguments.call(function, arguments_now)

        examples = [values[name] for name in self.names]
        self.graph: StaticGraph
        self.graph, self.recording = run(StaticGraph.trace, traced, *examples, of=function)

    def answer(self, values: Values) -> Any:
        """Replay the trace on other tensors."""
        return self.graph.run(*(values[name] for name in self.names))

    def marks(self) -> dict[int, tuple[str, str]]:
        """Return the nodes whose truth the trace has frozen, marked."""
        tests = (event for event in self.recording.events if event["kind"] == "branch")
        return {e["node"]: ("frozen", f"frozen: {e['taken']}") for e in tests}

    def beside(self, values: Values, right: Tensor) -> tuple[str, Panel]:
        """Return in words what the trace answers, and its graph as it was traced."""
        heading = "Its graph, always the same"
        panel = graph(heading, Marked(_plain(self.recording), self.marks(), hidden=True))
        origin = f"made at {self.made_with}" if self.made_with else "made without arguments"
        try:
            answer = self.answer(values)
        except (RuntimeError, TypeError) as error:
            return f"The trace, {origin}, cannot answer: {str(error).splitlines()[0]}", panel
        text, right_text = in_words(answer), in_words(right)
        if same_answer(answer, right):
            return f"The trace, {origin}, answers {text}, the same.", panel
        if text == right_text:
            return (
                f"The trace, {origin}, gives other numbers. Wrong: both are shown as {text}",
                panel,
            )
        wrong = sentence(f"The trace, {origin}, answers {text}")
        return f"{wrong} Wrong: the function gives {right_text}", panel


def same_answer(one: Tensor, other: Tensor) -> bool:
    """Return whether two answers are the same, up to rounding; nan is nan."""
    if one.shape != other.shape:
        return False
    a, b = (np.asarray(tensor.detach()._array) for tensor in (one, other))
    if a.dtype == np.bool_:
        return bool((a == b).all())
    with np.errstate(all="ignore"):
        near = abs(a - b) <= 1e-5 * (1 + abs(b))
    return bool((near | (a == b) | ((a != a) & (b != b))).all())


def _plain(recording: Recording) -> RecordingData:
    data = recording.to_dict()
    return {**data, "error": None}
