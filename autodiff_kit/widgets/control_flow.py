"""The control-flow lab: turn what goes in, and see how the graph becomes another one.

After reading you know what happens at each turn of a control: the function runs under a recorder,
the new graph is drawn over that of the run before, and a trace, frozen at the arguments at which
it was switched on, answers the same question beside it. Read next: ``view/difference.py``, how two
graphs are laid over each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets

from autodiff_kit.record.recording import Recording
from autodiff_kit.record.values import summary
from autodiff_kit.static import StaticGraph
from autodiff_kit.tensor import Tensor
from autodiff_kit.view.difference import Branch, Difference, branches, difference, mark_lines
from autodiff_kit.view.formula import show
from autodiff_kit.view.panels import Marked, Panel, graph, listing, page, words
from autodiff_kit.view.words import sentence
from autodiff_kit.widgets.arguments import Arguments, no_tensors, source_of_function, text_around
from autodiff_kit.widgets.lab import Lab
from autodiff_kit.widgets.running import Refused, name_of, run, the_tensor

__all__ = ["ControlFlow", "Frozen", "same_answer"]

_HEADING = "The trace, frozen when it was switched on"


class ControlFlow(Lab):
    """A function with controls for its arguments, and its graph drawn over the one before.

    Parameters
    ----------
    function : callable
        Takes what you like and returns a tensor. A number becomes a slider, a bool a checkbox; a
        ``Literal``, an ``Enum`` or a list of examples a choice; a tensor of one number a slider
        that makes tensors; other values are used as they are.
    frozen : bool, default False
        Begin with the frozen trace shown. It is made of the arguments as they are when its switch
        is turned on; to freeze others, turn it off and on again.
    then : dict from str to anything, optional
        Controls to turn after the first run, so that there is something to compare.
    **examples
        What to begin with, by argument; where there is none, the argument's default.

    Attributes
    ----------
    recording : Recording
        Of the latest run that went well.
    difference : Difference
        What came, what went and what stayed between the run it is compared with and that one.
    answer : Tensor
        What the function returned.

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
        then: Mapping[str, Any] | None = None,
        **examples: Any,
    ) -> None:
        self._arguments = Arguments(function, examples)
        self._function = function
        self._lines, self._first_line = source_of_function(function)
        self._runs: list[tuple[Recording, Tensor]] = []  # the first, the last but one, the last
        self._frozen: Frozen | None = None
        self._over = ipywidgets.Dropdown(
            options=["the run before", "the first run", "nothing"], description="drawn over"
        )
        self._over.style.description_width = "initial"
        switch = ipywidgets.Checkbox(frozen, description="frozen trace beside it", indent=False)
        controls = {**self._arguments.controls, "over": self._over, "frozen": switch}
        for taken in ("over", "frozen"):
            if taken in self._arguments.controls:
                raise TypeError(
                    f"the lab has a control {taken!r} of its own.\n"
                    "-> Give the argument of your function another name."
                )
        self._asked: Any = None
        super().__init__(controls, title=f"Control flow of {name_of(function)}")
        self.turn(then or {})

    def draw(self) -> None:
        """Run the function if its arguments have changed, and draw what it did."""
        if not self.controls["frozen"].value:
            self._frozen = None  # switched on again, it is made anew
        values = self._arguments.values()
        asked = tuple(control.value for control in self._arguments.controls.values())
        if not self._runs or asked != self._asked:
            value, recording = run(self._arguments.call, self._function, values)
            if not recording.nodes and not self._arguments.tensors:
                raise Refused(no_tensors(self._arguments, self._function))
            answer = the_tensor(value, self._function)
            self._asked = asked
            self._runs = [*self._runs[:1], *self._runs[-1:], (recording, answer)][-3:]
        self._show(values)

    def _show(self, values: dict[str, Any]) -> None:
        recording, answer = self._runs[-1]
        before, was = self._runs[-1]
        if self._over.value == "the first run":
            before, was = self._runs[0]
        elif self._over.value == "the run before" and len(self._runs) > 1:
            before, was = self._runs[-2]
        found = difference(before, recording)
        asked = branches(recording)
        said = self._said(found, answer, was, before is not recording, asked)
        left, right = self._panels(recording, found, asked, before is not recording)
        if self.controls["frozen"].value:
            self._frozen = self._frozen or Frozen(self._function, self._arguments, values)
            told, panel = self._frozen.beside(values, answer)
            said += " " + sentence(told)
            width = max(left[0].width, 300.0)
            left.append(words(_HEADING, told, width, "" if ", the same" in told else "wrong"))
            left.append(panel)
        svg = page([left, right], title=f"Graph of {name_of(self._function)}", said=said)
        self.recording, self.answer, self.difference = recording, answer, found
        self.canvas.svg, self.canvas.caption = svg, said

    def _panels(
        self, recording: Recording, found: Difference, asked: list[Branch], compared: bool
    ) -> tuple[list[Panel], list[Panel]]:
        left = []
        text = text_around(recording, self._lines, self._first_line)
        if self._lines:
            lines = mark_lines(self._lines, self._first_line, text, asked, found)
            left.append(listing("Your code, and the way it went", lines))
        else:
            left.append(words("Your code", "The source of this function cannot be read."))
        heading = "The graph of this run"
        if compared:
            heading += f", drawn over {self._over.value}"
        return left, [graph(heading, found.picture, found.edges)]

    def _said(
        self,
        found: Difference,
        answer: Tensor,
        was: Tensor,
        compared: bool,
        asked: list[Branch],
    ) -> str:
        now = show(summary(answer._array))
        parts = [f"The answer is {now}"]
        if compared:
            parts = [found.sentence()]
            before = show(summary(was._array))
            parts.append(
                f"The answer was {before} and is {now}"
                if before != now
                else f"The answer is still {now}"
            )
        for branch in asked[:2]:
            parts.append(f"Line {branch.line}: {branch.text} {branch.note()}")
        return " ".join(sentence(part) for part in parts)


class Frozen:
    """A trace of one run, asked the same as the function is.

    Parameters
    ----------
    function : callable
    arguments : Arguments
    values : dict
        The arguments of the run that is traced. Those that are no tensors are frozen, too.
    """

    def __init__(
        self, function: Callable[..., Any], arguments: Arguments, values: dict[str, Any]
    ) -> None:
        self.names = arguments.tensors
        self.values = values
        self.made_with = arguments.words(values)

        def traced(*tensors: Tensor) -> Any:
            given = {**values, **dict(zip(self.names, tensors, strict=True))}
            return arguments.call(function, given)

        traced.__name__ = name_of(function)
        examples = [values[name] for name in self.names]
        self.graph: StaticGraph
        self.graph, self.recording = run(StaticGraph.trace, traced, *examples)

    def answer(self, values: dict[str, Any]) -> Any:
        """Replay the trace on other tensors."""
        return self.graph.run(*(values[name] for name in self.names))

    def marks(self) -> dict[int, tuple[str, str]]:
        """Return the nodes whose truth the trace has frozen, marked."""
        asked = (event for event in self.recording.events if event["kind"] == "branch")
        return {e["node"]: ("frozen", f"frozen: {e['taken']}") for e in asked}

    def beside(self, values: dict[str, Any], right: Tensor) -> tuple[str, Panel]:
        """Return in words what the trace answers, and its graph as it was traced."""
        heading = "Its graph, the same for ever"
        panel = graph(heading, Marked(_plain(self.recording), self.marks(), hidden=True))
        told = f"made at {self.made_with}" if self.made_with else "made without arguments"
        try:
            answer = self.answer(values)
        except (RuntimeError, TypeError) as error:
            return f"The trace, {told}, cannot answer: {str(error).splitlines()[0]}", panel
        shown, wanted = (show(summary(t._array)) for t in (answer, right))
        if same_answer(answer, right):
            return f"The trace, {told}, answers {shown}, the same.", panel
        wrong = sentence(f"The trace, {told}, answers {shown}")
        return f"{wrong} Wrong: the function gives {wanted}", panel


def same_answer(one: Tensor, other: Tensor) -> bool:
    """Return whether two answers are the same, up to rounding; nan is nan."""
    if one.shape != other.shape:
        return False
    a, b = one.detach().numpy(), other.detach().numpy()
    return bool(((abs(a - b) <= 1e-5 * (1 + abs(b))) | (a == b) | ((a != a) & (b != b))).all())


def _plain(recording: Recording) -> dict[str, Any]:
    data = recording.to_dict()
    return {**data, "error": None}
