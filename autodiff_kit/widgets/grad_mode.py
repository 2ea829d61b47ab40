"""The no_grad lab: switch recording off in single lines, and see what that saves and what it costs.

After reading you know what is measured: the bytes that the graph saves for backward, each array
once; the time of the forward pass with the switches and without; and what ``backward()`` then says.
Read next: ``rewriting.py``, how a switch gets into the learner's code.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

import traitlets

from autodiff_kit.record.events import RecordingData
from autodiff_kit.record.memory import Memory, watch_memory
from autodiff_kit.record.recording import Recording
from autodiff_kit.record.source_files import is_foreign
from autodiff_kit.record.values import summary
from autodiff_kit.tensor import Tensor
from autodiff_kit.view.panels import Line, Marked, graph, listing, page, words
from autodiff_kit.view.values import show
from autodiff_kit.view.words import memory as in_bytes
from autodiff_kit.view.words import sentence, spoken
from autodiff_kit.widgets.arguments import Arguments, Values, no_tensors
from autodiff_kit.widgets.controls import CodeLine, Control, Switch
from autodiff_kit.widgets.distrust import copy_of
from autodiff_kit.widgets.failures import mixed_libraries
from autodiff_kit.widgets.function_lab import FunctionLab
from autodiff_kit.widgets.measuring import MOST, kept_bytes, micro, most_kept, seconds_or_why
from autodiff_kit.widgets.rewriting import SWITCHES, Lines
from autodiff_kit.widgets.running import Refused, fresh_grads, name_of, run, the_tensor

__all__ = ["GradMode"]

_HELP = "How this line runs: as it is written, in no_grad, detached, or requiring a gradient."
_TWICE = (
    "\n{name} runs backward() itself, and this lab runs it once more, on what {name} returns.\n"
    "-> Leave backward() out of {name}."
)


class GradMode(FunctionLab):
    r"""A function with a switch at each line: ``no_grad``, ``detach`` or ``requires_grad_()``.

    At each change the function runs once with its switches, twice as written, to see whether it
    answers the same both times, and both versions up to 26 times to be timed.

    Parameters
    ----------
    source : function or str
        Returns the loss, a tensor of one number: the lab calls ``backward()`` on it. Or the text of
        a cell whose last line is the loss; what it takes from outside is given by name.
    switches : dict from int to str, optional
        What to begin with, by line: ``{3: "no_grad"}``.
    **examples
        The arguments; a number becomes a slider, and so on, as in ``ControlFlow``.

    Attributes
    ----------
    recording : Recording
        Of the latest run, forward and backward; empty while there was none.
    bytes_saved, bytes_saved_as_written : int
        Bytes that the graph of the loss saves for backward, with the switches and without. Where
        the loss has no graph: the most that nodes saved at the same time.
    nodes, nodes_as_written : int
        Nodes of that graph. Where there is none: all that were recorded.
    error : str
        What backward, or the function itself, said; ``""`` if nothing failed.
    grads : dict from str to (str or None)
        ``.grad`` of each argument that requires grad, as text; None where nothing arrived.

    Raises
    ------
    TypeError
        If the lines cannot be read, there is no such line, or an argument is missing.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> lab = GradMode("y = x * x\ny * 3", x=torch.tensor(2.0, requires_grad=True))
    >>> lab.grads, lab.bytes_saved
    ({'x': '12.'}, 4)
    >>> lab.controls["line 1"].value = "no_grad"
    >>> lab.error.split("\n")[0]
    'RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn'
    """

    _has_note = traitlets.Bool(True).tag(sync=True)

    def __init__(
        self,
        source: Callable[..., Any] | str,
        *,
        switches: Mapping[int, str] | None = None,
        **examples: Any,
    ) -> None:
        self._source = Lines(source, tuple(examples))
        self.recording = Recording()
        self.bytes_saved = self.bytes_saved_as_written = self.nodes = self.nodes_as_written = 0
        self.error, self.raised = "", False
        self.grads: dict[str, str | None] = {}
        self._is_interrupted, self._whole = False, ""
        function = self._source.function
        arguments = Arguments(function, examples)
        if arguments.are_open:
            try:
                arguments.settled(lambda: run(arguments.call, function, arguments.values()))
            except KeyboardInterrupt:
                self._is_interrupted = True
            except (Exception, SystemExit):
                pass  # it is said in the lab, where it is raised once more
        controls: dict[str, Control] = {}
        values = arguments.values()
        for name in arguments.tensors:
            if values[name].is_floating_point():
                controls[f"{name}.requires_grad"] = Switch(
                    values[name].requires_grad,
                    help=f"Whether {name} requires a gradient: without, nothing that is computed "
                    "from it alone is recorded.",
                )
        for line in self._source.statements:
            controls[f"line {line}"] = self._code_line(line)
        for line, how in (switches or {}).items():
            if f"line {line}" not in controls or how not in SWITCHES:
                raise TypeError(
                    f"line {line} cannot be switched to {how!r}.\n-> Lines: "
                    f"{', '.join(map(str, self._source.statements))}. Switches: "
                    f"{', '.join(SWITCHES[1:])}."
                )
            controls[f"line {line}"].value = how
        self.seconds = self.seconds_as_written = 0.0
        title = "Recorded, line by line"
        super().__init__(function, arguments, controls, title=title)
        self.canvas.add_class("adk-caption-first")

    def draw(self) -> None:
        """Run the function with its switches and as written; draw the first, compare with both."""
        if self._is_interrupted:
            self._is_interrupted = False
            raise KeyboardInterrupt
        switches = {n: self.controls[f"line {n}"].value for n in self._source.statements}
        switches = {n: how for n, how in switches.items() if how != SWITCHES[0]}
        function = self._source.rewritten(switches)
        original = self._source.function

        def once() -> tuple[_Outcome, Recording, Values]:
            values = self._arguments.values()
            return *self._run(original, values), values

        runs = self._examined(
            once,
            lambda run: run[0].error or run[0].answer,
            lambda run: run[1],
            lambda run: run[2],
            failed=lambda run: run[0].raised,
        )
        before, plain, _ = runs.first
        now, recording = self._run(function, self._values())
        if not recording.nodes:
            raise Refused(now.error or no_tensors(self._arguments, original))
        self.recording = recording
        self.error, self.grads = now.error, now.grads
        self.raised = now.raised or before.raised
        self._has_graph = now.graph is not None
        (self.bytes_saved, self.nodes), (self.bytes_saved_as_written, self.nodes_as_written) = (
            (most_kept(outcome.memory), _recorded(of))
            if outcome.graph is None
            else (kept_bytes(outcome.memory, outcome.graph), len(outcome.graph))
            for outcome, of in ((now, recording), (before, plain))
        )
        self._is_compared = bool(switches) and not runs.differs
        caption = f"{runs.doubt} {self._caption(switches)}".lstrip()
        left = [listing("Your code and its switches", self._marked(switches, now.line))]
        if self.error:
            width = max(left[0].width, 300.0)
            left.append(words("What it says", self.error, width, "wrong"))
        left.append(words("Measured", self._measured()))
        panel = graph("What was recorded", Marked(_plain(recording), self._marks(recording)))
        for line in self._source.statements:
            control = self.controls[f"line {line}"]
            control.set_trait(
                "remark", self._failure(line, now.line).replace(" ", "\N{NO-BREAK SPACE}")
            )
        title = f"no_grad in {original.__name__}"
        self._whole = page([left, [panel]], title=title, description=caption)
        # With its controls, the lab shows the lines of the code beside their switches.
        rest = left[bool(self._source.statements) :]
        self.canvas.svg = page([rest, [panel]], title=title, description=caption)
        self.canvas.caption = caption
        self.afterwards(lambda: self._measure(function, original, bool(switches), runs.has_effects))

    def _values(self) -> Values:
        values = dict(self._arguments.values())
        for name in self._arguments.tensors:
            if f"{name}.requires_grad" in self.controls:
                requires_grad = self.controls[f"{name}.requires_grad"].value
                values[name] = values[name].detach().requires_grad_(requires_grad)
        return values

    def _run(self, function: Any, values: Values) -> tuple[_Outcome, Recording]:
        """Run forward and backward; what goes wrong is part of the answer."""

        def whole() -> _Outcome:
            with watch_memory() as memory, fresh_grads() as inside:
                try:
                    loss = self._arguments.call(function, values)
                except Exception as error:
                    if mixed := mixed_libraries(error):
                        raise Refused(mixed) from None
                    at = _line(error)
                    message = _first_words(error) + f"\nIt came from line {at}." * bool(at)
                    return _Outcome(memory, message, at, {}, None, True)
            loss = the_tensor(loss, function)
            answer, graph = copy_of(loss), None if loss.grad_fn is None else _reachable(loss)
            try:
                with fresh_grads():
                    loss.backward()
                    arrived = {
                        n: values[n].grad for n in self._arguments.tensors if _wants(values[n])
                    }
            except Exception as error:
                message = _first_words(error)
                if inside.went_back:
                    message += _TWICE.format(name=name_of(function))
                return _Outcome(memory, message, self._last_line(), {}, answer, graph=graph)
            grads = {n: None if g is None else show(summary(g._array)) for n, g in arrived.items()}
            return _Outcome(memory, "", 0, grads, answer, graph=graph)

        outcome, recording = run(whole, of=function)
        return outcome, recording

    def _last_line(self) -> int:
        return self._source.statements[-1] if self._source.statements else self._source.first

    def still(self) -> str:
        """Return the picture with the lines of the code, as SVG text."""
        return self._whole

    def _code_line(self, line: int) -> CodeLine:
        """Return the control of a line, with the lines that no control stands beside."""
        source = self._source
        texts = dict(enumerate(source.texts, source.first))
        place = source.statements.index(line)
        ends = [*source.statements, source.first + len(texts)]
        before = [(n, texts[n]) for n in range(source.first, line) if not place]
        after = [(n, texts[n]) for n in range(line + 1, ends[place + 1])]
        code = texts[line]
        return CodeLine(SWITCHES, number=line, code=code, before=before, after=after, help=_HELP)

    def _failure(self, number: int, wrong: int) -> str:
        """Say of a line that it fails, or that backward does after it; ``""`` if it is not it."""
        if number != wrong:
            return ""
        return "fails" if self.raised else "backward() fails"

    def _marked(self, switches: Mapping[int, str], wrong: int) -> list[Line]:
        lines = []
        for number, text in enumerate(self._source.texts, self._source.first):
            line = Line(number, text)
            how = switches.get(number)
            if how:
                line.note, line.look, line.sign = how, "off", "\N{BULLET}"
            if number == wrong:
                line.note += ("; " if line.note else "") + self._failure(number, wrong)
                line.look, line.sign = "wrong", "!"
            lines.append(line)
        return lines

    def _marks(self, recording: Recording) -> dict[int, tuple[str, str]]:
        """Say in each box that is not recorded that it is not, and at leaves what is missing."""
        arrived = {e["node"] for e in recording.events if e["kind"] == "accumulate"}
        marks = {}
        for node in recording.nodes:
            if node["kind"] == "op" and not node["recorded"]:
                marks[node["id"]] = ("off", "not recorded")
            elif node["kind"] == "leaf" and node["recorded"] and node["id"] not in arrived:
                marks[node["id"]] = ("", "grad None")
        return marks

    def _measured(self) -> str:
        size, size_as_written = in_bytes(self.bytes_saved), in_bytes(self.bytes_saved_as_written)
        text = f"Saved for backward: {size} in {_count(self.nodes)}."
        if self.nodes and not self._has_graph:
            end = "until the error" if self.raised else "and the loss has no graph"
            text = f"Saved while it ran: at most {size} in {_count(self.nodes)}, {end}."
        is_other = (size, self.nodes) != (size_as_written, self.nodes_as_written)
        if self._is_compared and is_other:
            text += f"\nAs written: {size_as_written} in {_count(self.nodes_as_written)}."
        for name, grad in self.grads.items():
            text += sentence(f"\n{name}.grad is {grad and spoken(grad)}")
        return text

    def _caption(self, switches: Mapping[int, str]) -> str:
        parts = [f"line {n}: {how}" for n, how in switches.items()]
        words_of_switches = sentence(", ".join(parts) or "As written")
        words_of_switches = words_of_switches[:1].upper() + words_of_switches[1:]
        words_of_switches += " " + self._measured().replace("\n", " ")
        first = self.error.split("\n")[0].split(". ")[0]  # all of it stands beside the code
        return f"{words_of_switches} {sentence(first)}" if self.error else words_of_switches

    def _measure(self, function: Any, written: Any, switched: bool, has_effects: bool) -> None:
        """Time both versions; shown live and nowhere else, as it is another time every time."""
        self.note = ""
        if self.raised:
            return
        plain, values = self._arguments.values(), self._values()
        both, self.note = seconds_or_why(
            lambda: self._arguments.call(written, plain),
            lambda: self._arguments.call(function, values),
            of=[written],
            has_effects=has_effects,
        )
        if not both:
            return
        self.seconds_as_written, self.seconds = both
        text = f"Forward pass: {micro(self.seconds_as_written)} as written"
        if switched:
            ratio = self.seconds / (self.seconds_as_written or 1)
            text += f", {micro(self.seconds)} with the switches ({ratio:.2f} times as long)"
        self.note = f"{text}: measured just now, on this machine; medians of up to {MOST} timings."


class _Outcome(NamedTuple):
    memory: Memory
    error: str
    line: int
    grads: dict[str, str | None]
    answer: Tensor | None
    raised: bool = False  # by the function itself
    graph: Collection[int] | None = None  # the numbers of the nodes behind the loss, if it has any


def _recorded(recording: Recording) -> int:
    return sum(node["kind"] == "op" and node["recorded"] for node in recording.nodes)


def _reachable(loss: Tensor) -> set[int]:
    """Return the numbers of the nodes behind a loss; others went when the function returned."""
    waiting, numbers = [loss.grad_fn], set()
    while waiting:
        node = waiting.pop()
        if node is None or node.number in numbers or hasattr(node, "variable"):
            continue
        numbers.add(node.number)
        waiting += [following for following, _ in node.next_functions]
    return numbers


def _count(nodes: int) -> str:
    return f"{nodes:,} node{'s' * (nodes != 1)}"


def _wants(value: Any) -> bool:
    return isinstance(value, Tensor) and value.requires_grad


def _first_words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": ")


def _line(error: BaseException) -> int:
    traceback, line = error.__traceback__, 0
    while traceback is not None:
        if not is_foreign(traceback.tb_frame.f_code.co_filename):
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line


def _plain(recording: Recording) -> RecordingData:
    return {**recording.to_dict(), "error": None}
