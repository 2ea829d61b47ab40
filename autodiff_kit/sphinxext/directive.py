"""The directive ``autodiff-step``: from code in a document to nodes.

After reading you know its options, and what an author is told of code that fails: a warning with
file and line, and the Stepper up to there. Read next: ``output.py``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StateMachine
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from autodiff_kit.sphinxext.running import MODULES, Context, Run, run
from autodiff_kit.view import Picture, build, still_svg
from autodiff_kit.view.embed import embedded

__all__ = ["LIBRARIES", "AutodiffStep", "StepNode"]

LIBRARIES = tuple(MODULES)
Options = dict[str, Any]  # how the text of each option is read
Contexts = dict[tuple[str, str], Context]  # by library and name
logger = logging.getLogger(__name__)


class StepNode(nodes.General, nodes.Element):
    """A Stepper in a document.

    Its attributes are texts: ``html``, ``svg``, its words in ``alt``, and the ``captions`` of its
    steps. So a document that has not changed is written again without running its code.
    """


def _library(argument: str | None) -> str:
    return directives.choice(argument, LIBRARIES)


def _optional(argument: str | None) -> str:
    return (argument or "").strip()


class AutodiffStep(SphinxDirective):
    """Run code, or a file with code, and embed a Stepper through what its tensors do.

    Options
    -------
    caption
        Below the Stepper; it makes it a figure that is numbered and referred to as others.
    library
        ``kit`` or ``torch`` (PyTorch itself): what the name ``torch`` is in the code. By default
        what ``autodiff_step_library`` in ``conf.py`` says, else ``kit``.
    step
        At which it opens, as its counter shows it: ``3``, or ``last``.
    hide-code
        Show graph and numbers without the code.
    context
        Go on with the variables of the directive before in this document that has this option,
        and the same name behind it.
    raises ...
        The code ends in an error, which is explained: its class, or nothing for any.
    name, class
        As for other directives.
    """

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar[Options] = {
        "caption": directives.unchanged_required,
        "class": directives.class_option,
        "context": _optional,
        "hide-code": directives.flag,
        "library": _library,
        "name": directives.unchanged,
        "raises": _optional,
        "step": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        """Return the nodes that stand in the document."""
        code, file = self._code()
        if code is None:
            return []
        if not code.strip():
            message = "autodiff-step has no code: write some below it, or a file behind it."
            self._warn(message, 0, file)
            return []
        library = self.options.get("library", self.config.autodiff_step_library)
        if library not in LIBRARIES:
            self._warn(f"autodiff_step_library is {library!r}; write 'kit' or 'torch'.", 0, "")
            return [self._code_node(code)]
        try:
            context = self._context(library)
        except ImportError as error:
            self._warn(f"{error}. Install it, or write `:library: kit`.", 0, "")
            return [self._code_node(code)]
        name = file or f"<{self.env.docname}, line {self.lineno}>"
        done = run(code, name, context)
        self._tell_of_errors(done, code, file)
        for number, source in enumerate(sources := done.recording.sources, start=1):
            if source["name"].startswith("cell "):
                source["name"] = "code" if len(sources) == 1 else f"code {number}"
        content: list[nodes.Node] = []
        if "hide-code" not in self.options:
            content.append(self._code_node(code))
        if done.recording.nodes or (done.error and done.recording.error and done.recording.events):
            content.append(self._step_node(build(done.recording)))
        elif done.error is None:
            self._warn(_nothing(library, code), 0, file)
        if done.output:
            content.append(_block(done.output, "none", "autodiff-step-output"))
        container = nodes.container("", *content, classes=["autodiff-step-container"])
        container["classes"] += self.options.get("class", [])
        self.set_source_info(container)
        self.add_name(next(iter(container.findall(nodes.figure)), container))
        return [container]

    def _code(self) -> tuple[str | None, str]:
        """Return the code, and the file that it is from; "" for what stands in the document."""
        if not self.arguments:
            return "\n".join(self.content) + "\n", ""
        if self.content:
            self._warn("autodiff-step takes a file or code below it; it has both.", 0, "")
        relative, path = self.env.relfn2path(self.arguments[0])
        self.env.note_dependency(relative)
        try:
            return Path(path).read_text(encoding="utf-8"), path
        except (OSError, UnicodeError) as error:
            self._warn(f"{self.arguments[0]} cannot be read: {error}", 0, "")
            return None, ""

    def _context(self, library: str) -> Context:
        if "context" not in self.options:
            return Context(library)
        data: Any = self.env.temp_data  # of this document
        contexts: Contexts = data.setdefault("autodiff-step contexts", {})
        key = library, self.options["context"]
        if key not in contexts:
            contexts[key] = Context(library)
        return contexts[key]

    def _tell_of_errors(self, done: Run, code: str, file: str) -> None:
        wish = self.options.get("raises")
        if done.error is None:
            if wish is not None:
                self._warn(
                    f"This code was to raise {wish or 'an error'}, and it ran to its end.\n"
                    "-> Take `:raises:` away, or change the code.",
                    0,
                    file,
                )
            return
        kinds = {kind.__name__ for kind in type(done.error).__mro__}
        if wish is not None and (not wish or wish in kinds):
            return
        lines = code.splitlines()
        line = lines[done.line - 1].strip() if 0 < done.line <= len(lines) else ""
        message = done.error.msg if isinstance(done.error, SyntaxError) else str(done.error)
        words = f"{type(done.error).__name__}: {message}".rstrip(": \n")
        self._warn(
            f"`{line}` ended with {words}\n"
            f"-> If the example is about this error, write `:raises: {type(done.error).__name__}`.",
            done.line,
            file,
        )

    def _warn(self, message: str, line: int, file: str) -> None:
        """Warn of a line of the code; of the directive itself if it is 0."""
        place = nodes.Element()
        if line and file:
            place.source, place.line = file, line
        elif line and isinstance(self.state_machine, StateMachine):  # knows included files, too
            source, before = self.content.items[min(line, len(self.content)) - 1]
            place.source, place.line = source, before + 1
        else:  # MyST counts the lines of a directive from the one that opens it
            place.source, place.line = self.get_source_info()
            place.line += self.content_offset + line if line else 0
        logger.warning(message, location=place, type="autodiff_step")

    def _step_node(self, picture: Picture) -> nodes.Element:
        step = self._step(len(picture.frames))
        still = still_svg(picture, -1 if step is None else step)
        caption = picture.state(-1 if step is None else step)["caption"]
        node = StepNode(
            html=embedded(picture, step=step, has_code="hide-code" not in self.options),
            svg=still,
            alt=f"{picture.title}. {caption}",
            captions=[frame["caption"] for frame in picture.frames],
        )
        self.set_source_info(node)
        if "caption" not in self.options:
            return node
        texts, messages = self.parse_inline(self.options["caption"])
        caption_node = nodes.caption(self.options["caption"], "", *texts)
        self.set_source_info(caption_node)
        figure = nodes.figure("", node, caption_node, *messages)
        self.set_source_info(figure)
        return figure

    def _step(self, count: int) -> int | None:
        """Return the step to open at, from 0; None where nothing is said of it."""
        text = self.options.get("step")
        if text is None:
            return None
        if text == "last":
            return count - 1
        if text.isdecimal() and 0 < int(text) <= count:
            return int(text) - 1
        self._warn(f"There is no step {text}: write 1 to {count}, or `last`.", 0, "")
        return None

    def _code_node(self, code: str) -> nodes.Element:
        node = _block(code.rstrip("\n"), "python", "autodiff-step-code")
        self.set_source_info(node)
        return node


def _block(text: str, language: str, name: str) -> nodes.literal_block:
    return nodes.literal_block(text, text.rstrip("\n"), language=language, classes=[name])


def _nothing(library: str, code: str) -> str:
    if library == "kit" and "import torch" in code:
        return (
            "Nothing was recorded: this code works with PyTorch itself, and the kit was recorded.\n"
            "-> Write `:library: torch`, or leave out `import torch`: the kit has that name."
        )
    if library == "torch" and "autodiff_kit" in code:
        return (
            "Nothing was recorded: this code works with the kit, and PyTorch was recorded.\n"
            "-> Write `:library: kit`."
        )
    return (
        "Nothing was recorded: no tensor was made or used in this code.\n"
        "-> Try: x = torch.tensor(2., requires_grad=True); y = x * x"
    )
