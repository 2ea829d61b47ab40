"""The static/dynamic lab: one function, run anew each time, and replayed from one trace.

After reading you know what is compared: both use the same op table and the same rules; the dynamic
run builds its graph anew and tests every ``if`` again, the static one replays what one run did.
Read next: ``autodiff_kit/static.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import traitlets

from autodiff_kit.record.memory import watch_memory
from autodiff_kit.record.recording import Recording
from autodiff_kit.tensor import Tensor
from autodiff_kit.view.difference import Branch, branches, difference, mark_lines
from autodiff_kit.view.panels import Line, Panel, graph, listing, page, table, words
from autodiff_kit.view.values import number
from autodiff_kit.view.words import listed, sentence, spoken
from autodiff_kit.view.words import memory as in_bytes
from autodiff_kit.widgets.arguments import Arguments, Values
from autodiff_kit.widgets.control_flow import Frozen, in_words, same_answer
from autodiff_kit.widgets.controls import Button, Slider
from autodiff_kit.widgets.distrust import Examined
from autodiff_kit.widgets.function_lab import FunctionLab
from autodiff_kit.widgets.function_source import text_around
from autodiff_kit.widgets.lab import Settings
from autodiff_kit.widgets.measuring import MOST, compared, micro, most_kept, seconds_or_why
from autodiff_kit.widgets.running import (
    Refused,
    first_words,
    fresh_grads,
    name_of,
    run,
    the_tensor,
)

__all__ = ["Compare"]

_HELP = "Make the static graph anew, of a run with the arguments as they are now."
PROBES = 5  # other values of the first slider, at which both are asked
PROBE = 0.5  # seconds for each


class _Dynamic(NamedTuple):
    """One run of the function as it is."""

    values: Values
    answer: Tensor
    grads: dict[str, Tensor | None]
    bytes_saved: int
    recording: Recording
    failure: str  # what backward has raised, if anything


class Compare(FunctionLab):
    """One function twice: as a dynamic graph, and as a static one that was traced once.

    At each change of a control the function runs at most 34 times: twice to see whether it answers
    the same both times, once more for a new trace, 5 times for the table of other values, and up
    to 26 times to be timed. One that changes something outside of itself, or answers otherwise
    each time, is neither timed nor tried at other values.

    Parameters
    ----------
    function : callable
        Returns a tensor; of one number, so that there is a gradient to compare.
    then : dict from str to anything, optional
        Controls to change after the trace.
    **examples
        What to trace it at, by argument; they become controls as in ``ControlFlow``.

    Attributes
    ----------
    dynamic, static : Tensor
        The two answers. ``static`` is None where there is no trace, or it cannot be replayed;
        ``dynamic`` is None where the function has not returned a tensor yet.
    agrees : bool
        Whether they are the same, up to rounding.
    nodes, operations : int
        Nodes that the dynamic run built, and operations that the static one replays.
    bytes_saved : int
        Bytes that nodes of the dynamic run saved for backward at the same time, at most.
    times_as_fast : float
        How many times as fast the static graph is, measured at the latest change; 0 if it could
        not be replayed, or if the function prints or changes something outside of itself.

    Raises
    ------
    TypeError
        If ``function`` is none, or an argument has nothing to begin with.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> lab = Compare(lambda x: x * 2 if x > 0 else -x, x=torch.tensor(1.0, requires_grad=True))
    >>> lab.controls["x"].value = -1.0
    >>> lab.dynamic.item(), lab.static.item()
    (1.0, -2.0)
    """

    _has_note = traitlets.Bool(True).tag(sync=True)

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        then: Settings | None = None,
        **examples: Any,
    ) -> None:
        self._frozen: Frozen | None = None
        self.dynamic: Tensor | None = None
        self.static: Tensor | None = None
        self.agrees, self.nodes, self.operations, self.bytes_saved = False, 0, 0, 0
        self.seconds: dict[str, float] = {}
        self.times_as_fast = 0.0
        again = Button(description="trace again, at these values", help=_HELP)
        again.on_click(self._trace_again)
        arguments = Arguments(function, examples)
        title = f"{name_of(function)}: dynamic and static"
        controls = {"trace again": again}
        super().__init__(function, arguments, controls, then=then, title=title)
        self.canvas.add_class("adk-caption-first")

    def _trace_again(self, button: Any) -> None:
        with self._turn:
            self._frozen = None
            self.refresh()

    def draw(self) -> None:
        """Run the function, replay the trace, and compare."""
        runs = self._examined(
            self._dynamic, lambda run: run.answer, lambda run: run.recording, lambda run: run.values
        )
        _, dynamic, grads, bytes_saved, recording, failure = runs.first
        self.nodes = sum(n["kind"] == "op" and n["recorded"] for n in recording.nodes)
        self.dynamic, self.bytes_saved = dynamic, bytes_saved
        self.static = None  # until there is a trace
        self.agrees, self.operations = False, 0
        values = self._arguments.values()
        frozen = self._frozen or Frozen(self._function, self._arguments, values)
        self._frozen = frozen
        static, refusal, static_grads = self._static(frozen, values)
        agrees = static is not None and same_answer(static, dynamic)
        marks = frozen.marks()
        changes = difference(
            frozen.recording,
            recording,
            came="not in the trace",
            went="only in the trace",
            also=marks,
        )
        tests = branches(recording)
        ran = sum(n["kind"] == "op" for n in recording.nodes)
        traced = sum(n["kind"] == "op" for n in frozen.recording.nodes)
        self.static, self.agrees, self.operations = static, agrees, traced - frozen.graph.removed
        rows = [["", "dynamic", "static"], ["answer", _shown(dynamic), _shown(static)]]
        wrong = "" if runs.differs else "wrong"  # two runs of it would differ, too
        looks = ["", "" if agrees else wrong]
        for name, grad in grads.items():
            rows.append([f"gradient of {name}", _shown(grad), _shown(static_grads.get(name))])
            looks.append("" if _same(grad, static_grads.get(name)) else wrong)
        ways = sum(len(branch.ways) for branch in tests)
        rows += [
            ["operations run", str(ran), str(self.operations)],
            ["nodes built", str(self.nodes), "0"],
            ["saved by nodes", in_bytes(bytes_saved), in_bytes(0)],
            ["conditions tested", str(ways), "0"],
        ]
        wrong_grads = [n for n, g in grads.items() if not _same(g, static_grads.get(n))]
        caption = self._caption(frozen, runs, refusal, wrong_grads)
        if failure:
            caption += f" Backward through the dynamic graph raises {sentence(failure)}"
        panels = self._listed(recording, tests, frozen)
        panels.append(table("Measured", rows, looks))
        if not runs.differs and not runs.has_effects:
            panels += self._probes(values)
        panels.append(self._too(frozen))
        right = graph(
            "The dynamic graph, drawn over that of the trace", changes.picture, changes.edges
        )
        title = f"{name_of(self._function)}, dynamic and static"
        self.canvas.svg = page([panels, [right]], title=title, description=caption)
        self.canvas.caption = caption
        self.afterwards(lambda: self._measure(runs, values, bool(grads), static is not None))

    def _dynamic(self) -> _Dynamic:
        """Run forward and, if the answer allows it, backward."""
        values = self._arguments.values()

        def there_and_back() -> tuple[Tensor, dict[str, Tensor | None], int, str]:
            with watch_memory() as memory:
                value = self._arguments.call(self._function, values)
            answer = self._answer(value, has_run=bool(memory.arrays))
            if not answer.requires_grad or answer.numel() != 1:
                return answer, {}, most_kept(memory), ""
            names = [name for name in self._arguments.tensors if values[name].requires_grad]
            try:
                with fresh_grads():
                    answer.backward()
                    grads = {n: values[n].grad for n in names}
            except RuntimeError as error:  # such as after a change in place
                return answer.detach(), {}, most_kept(memory), first_words(error)
            return answer.detach(), grads, most_kept(memory), ""

        (answer, grads, size, failure), recording = run(there_and_back, of=self._function)
        return _Dynamic(values, answer, grads, size, recording, failure)

    def _static(
        self, frozen: Frozen, values: Values
    ) -> tuple[Tensor | None, str, dict[str, Tensor | None]]:
        """Replay; what prevents it is part of the answer."""
        tensors = [values[name] for name in frozen.names]
        try:
            answer = frozen.graph.run(*tensors)
        except (RuntimeError, TypeError) as error:
            return None, str(error).split("\n")[0], {}
        try:
            _, grads = frozen.graph.gradient(*tensors)
        except RuntimeError:
            return answer, "", {}
        return answer, "", dict(zip(frozen.names, grads, strict=True))

    def _caption(
        self, frozen: Frozen, runs: Examined[_Dynamic], refusal: str, wrong_grads: list[str]
    ) -> str:
        right, replayed = _shown(self.dynamic), _shown(self.static)
        doubt = f"{runs.doubt} " * bool(runs.doubt)
        if self.static is None:
            return doubt + sentence(f"The trace cannot be replayed: {refusal}")
        if runs.differs:
            caption = f"{doubt}The static graph replays one run, and answers {replayed} each time."
        elif not self.agrees and replayed == right:
            caption = f"{doubt}The static graph gives wrong numbers: both are shown as {right}."
        elif not self.agrees:
            caption = f"{doubt}The static graph answers {replayed}. That is wrong: it is {right}."
        else:
            caption = f"{doubt}Both answer {right}."
            if runs.has_effects:
                caption += " A replay runs only the operations on tensors."
            if wrong_grads:
                differ = "differs" if len(wrong_grads) == 1 else "differ"
                caption += f" The gradient of {listed(wrong_grads)} {differ}: see the table."
        return caption + f" Traced at {frozen.made_with}." * bool(frozen.made_with)

    def _listed(self, recording: Recording, tests: list[Branch], frozen: Frozen) -> list[Panel]:
        text = text_around(recording, self._lines, self._first_line)
        lines = mark_lines(self._lines, self._first_line, text, tests)
        then = {(b.line, b.start): b for b in branches(frozen.recording)}
        now = {(b.line, b.start): b for b in tests}
        for line in lines:
            for place in sorted({*then, *now}):
                if place[0] == line.number:
                    _mark_frozen(line, then.get(place), now.get(place))
        return [listing("Your code, and what is frozen in it", lines)] if lines else []

    def _too(self, frozen: Frozen) -> Panel:
        """Say what else is frozen: arguments that are no tensors, tensors made inside, shapes."""
        shapes = [f"{name} {list(frozen.values[name].shape)}" for name in frozen.names]
        lines = [f"shapes: {', '.join(shapes)}"] if shapes else []
        others = [name for name in self._arguments.controls if name not in frozen.names]
        lines += [f"{name} = {frozen.values[name]}: not a tensor" for name in others]
        lines += [str(item) for item in frozen.graph.frozen if item.kind == "tensor"]
        return words("Also frozen", "\n".join(lines), 300.0)

    def _probes(self, values: Values) -> list[Panel]:
        """Ask both at other values of the first slider."""
        sliders = {n: c for n, c in self._arguments.controls.items() if isinstance(c, Slider)}
        if not sliders or self._frozen is None:
            return []
        name, slider = next(iter(sliders.items()))
        low, high, frozen = slider.min, slider.max, self._frozen
        steps = [low + (high - low) * i / (PROBES - 1) for i in range(PROBES)]
        if slider.whole:
            steps = sorted({round(step) for step in steps})

        rows, looks = [[name, "dynamic", "static", ""]], [""]
        answers = [self._ask({**values, name: self._arguments.at(name, s)}, frozen) for s in steps]
        for step, (right, replayed) in zip(steps, answers, strict=True):
            tensors = isinstance(right, Tensor), isinstance(replayed, Tensor)
            agrees = same_answer(right, replayed) if all(tensors) else not any(tensors)
            texts = [x if isinstance(x, str) else _shown(x) for x in (right, replayed)]
            rows.append([spoken(number(step)), *texts, "" if agrees else "wrong"])
            looks.append("" if agrees else "wrong")
        return [table(f"At other values of {name}", rows, looks)]

    def _ask(self, values: Values, frozen: Frozen) -> list[Any]:
        """Return both answers; a word for one that there is not, as of math.sqrt(-1)."""
        answers: list[Any] = []
        for is_static in (False, True):
            try:
                if is_static:
                    answers.append(frozen.answer(values))
                else:
                    value, _ = run(self._arguments.call, self._function, values, seconds=PROBE)
                    answers.append(the_tensor(value, self._function))
            except Exception as error:  # the rest of the table stands
                is_late = isinstance(error, Refused) and " was stopped: " in str(error)
                answers.append(f"no end in {PROBE:g} s" if is_late else _shown(None))
        return answers

    def _measure(
        self, runs: Examined[_Dynamic], values: Values, backward: bool, replayed: bool
    ) -> None:
        """Time both; shown live and nowhere else, as it is another time every time."""
        self.note, self.times_as_fast = "", 0.0
        if self._frozen is None or not replayed:
            return
        tensors = [values[name] for name in self._frozen.names]

        def dynamic() -> None:
            answer = self._arguments.call(self._function, values)
            if backward:
                answer.backward()

        replay = self._frozen.graph.gradient if backward else self._frozen.graph.run
        both, self.note = seconds_or_why(
            dynamic, lambda: replay(*tensors), of=[self._function], has_effects=runs.has_effects
        )
        if not both:
            return
        self.seconds = dict(zip(("dynamic", "static"), both, strict=True))
        self.times_as_fast = self.seconds["dynamic"] / self.seconds["static"]
        what = "Forward and backward" if backward else "Forward"
        dynamic_time, static_time = (micro(self.seconds[name]) for name in ("dynamic", "static"))
        self.note = (
            f"{what}: dynamic {dynamic_time}, static {static_time}, "
            f"{compared(self.seconds['static'], self.seconds['dynamic'])}: measured just now, on "
            f"this machine; medians of up to {MOST} timings."
        )


def _mark_frozen(line: Line, then: Branch | None, now: Branch | None) -> None:
    """Say of a branch what the trace always takes, and what this run takes."""
    went = f"frozen {then.note()}" if then else "never tested in the trace"
    ways = now.note() if now else "not tested now"
    if then and now and then.ways == now.ways:
        line.note, line.look = went, "frozen"
    else:
        line.note, line.look, line.sign = (
            f"{went}; now {ways}".replace("now →", "now"),
            "wrong",
            "!",
        )


def _shown(value: Tensor | None) -> str:
    return "\N{EM DASH}" if value is None else in_words(value)


def _same(one: Tensor | None, other: Tensor | None) -> bool:
    """Return whether two answers or gradients are the same; no gradient is a gradient of 0."""
    if one is None or other is None:
        gradient = other if one is None else one
        return gradient is None or not gradient.detach().numpy().any()
    return same_answer(one, other)
