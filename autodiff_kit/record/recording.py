"""A recording: what happened in a run, as plain data that can be saved and read again.

After reading this file you know what a recording holds and that it can be passed on as a JSON
file: no tensor, no graph and no code lives in it. Read next: ``recorder.py``.
"""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path
from typing import Any

from autodiff_kit.files import written_whole
from autodiff_kit.late import late
from autodiff_kit.record.damage import find_damage
from autodiff_kit.record.events import (
    ErrorRecord,
    Event,
    NodeRecord,
    OpRecord,
    RecordingData,
    ScopeRecord,
    SourceRecord,
)
from autodiff_kit.record.ledger import Events, Nodes, numbered, plain
from autodiff_kit.record.values import Values

__all__ = ["Recording", "RecordingError"]

FORMAT, VERSION = "autodiff_kit recording", 1
_PARTS = ("sources", "ops", "scopes", "nodes", "events")


class RecordingError(ValueError):
    """A file that is no recording, or not a whole one."""


class Recording:
    """One run: its source, its graph and its events in order of time.

    All are plain dictionaries, whose keys ``events.py`` describes.

    Attributes
    ----------
    sources : list of SourceRecord
        The cells and files that took part.
    ops : dict from str to OpRecord
        The ops that occur, with their formula, their rules and what these read.
    scopes : list of ScopeRecord
        The tree of calls and loop iterations.
    nodes : list of NodeRecord
        Leaves and ops in order of creation; a node's id is its place in the list.
    events : list of Event
        What happened: ``leaf``, ``op``, ``branch``, ``modified``, ``grad``; ``backward``,
        ``visit``, ``contribution``, ``accumulate``, ``release``, ``finish`` or, after an exception
        that was caught, ``broken``; ``error``.
    error : ErrorRecord or None
        The exception that ended the run.
    note : str or None
        Said when the recording is not complete.
    is_open : bool
        Whether its ``with`` block has not ended: then it cannot be shown, as names come last.
    """

    def __init__(self) -> None:
        self.sources: list[SourceRecord] = []
        self.ops: dict[str, OpRecord] = {}
        self.scopes: list[ScopeRecord] = []
        self._nodes: list[NodeRecord] = []
        self._events: list[Event] = []
        self._values: Values | None = None
        self._is_plain = True  # whether all values are described
        self._notes: tuple[Nodes, Events, dict[int, str]] | None = None
        self.error: ErrorRecord | None = None
        self.note: str | None = None
        self.is_open = False

    @property
    def nodes(self) -> list[NodeRecord]:
        """Leaves and ops in order of creation."""
        self._make_plain()
        return self._nodes

    @nodes.setter
    def nodes(self, nodes: list[NodeRecord]) -> None:
        self._read()
        self._nodes = nodes

    @property
    def events(self) -> list[Event]:
        """What happened, in order of time."""
        self._read()
        self._make_plain()
        return self._events

    @events.setter
    def events(self, events: list[Event]) -> None:
        self._read()
        self._events = events

    def hold(self, nodes: Nodes, events: Events, names: dict[int, str]) -> None:
        """Take what was noted; it becomes plain data when it is read."""
        self._notes = nodes, events, names

    def noted(self) -> tuple[list[NodeRecord], list[Event]]:
        """Return nodes and events for a picture, which reads few of their values."""
        self._read()
        return self._nodes, self._events

    def _make_plain(self) -> None:
        """Describe all values of nodes and events."""
        self._read()
        if self._values is not None and not self._is_plain:
            self._values.go_on()
            self._nodes, self._events = plain(self._nodes), plain(self._events)
            self._values.finish()
            self._is_plain = True

    def _read(self) -> None:
        """Make plain data of what was noted."""
        if self._notes is None:
            return
        nodes, events, names = self._notes
        self._nodes, self._events = nodes.noted(), events
        if self.is_open:
            self._nodes, self._events = plain(self._nodes), plain(events)
        else:
            events.close()
            self._is_plain = False
            self._notes = None
            self._values = nodes.values
            self._values.finish()
            for number, name, variable in numbered(names, len(self._nodes)):
                self._nodes[number]["name"] = name
                if variable:
                    self._nodes[number]["variable"] = variable

    def __repr__(self) -> str:
        if not self.nodes:
            return "Recording(empty)"
        words = [_title(node) for node in self.nodes[:4]]
        more = ", ..." if len(self.nodes) > len(words) else ""
        size = f"{len(self.nodes)} node{'s' * (len(self.nodes) != 1)}"
        broken = f"; ended by {self.error['type']}" if self.error else ""
        return f"Recording({size}: {', '.join(words)}{more}{broken})"

    def to_dict(self) -> RecordingData:
        """Return everything as plain data.

        Raises
        ------
        RecordingError
            If the recording goes on.
        """
        self.check_ended()
        nodes, events = self.nodes, self.events
        if self._values is not None:
            self._values.plain()
        return {
            "format": FORMAT,
            "version": VERSION,
            "sources": self.sources,
            "ops": self.ops,
            "scopes": self.scopes,
            "nodes": nodes,
            "events": events,
            "error": self.error,
            "note": self.note,
        }

    def check_ended(self) -> None:
        """Raise ``RecordingError`` if the block that records has not ended."""
        if self.is_open:
            raise RecordingError(
                "This recording goes on: it is complete when its `with` block ends.\n"
                "-> Write this line after the block, one level of indentation less."
            )

    @classmethod
    def from_dict(cls, data: Any, *, name: str = "this data") -> Recording:
        """Make a recording of what ``to_dict`` returned.

        Raises
        ------
        RecordingError
            If ``data`` is no recording, is of a newer version, or is damaged: the message says
            where.
        """
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise RecordingError(
                f"{name} is not a recording of autodiff_kit.\n"
                "-> A recording is what rec.save(path) writes; give that file."
            )
        if data.get("version") != VERSION:
            raise RecordingError(
                f"{name} is a recording of version {data.get('version')}; this autodiff_kit reads "
                f"version {VERSION}.\n-> Upgrade autodiff_kit to read it. The file is as it was."
            )
        damage = find_damage(data)
        if damage is not None:
            raise RecordingError(
                f"{name} is damaged: {damage}.\n"
                "-> Record the run again and save it. The file is as it was."
            )
        recording = cls()
        for part in _PARTS:
            setattr(recording, part, data[part])
        recording.error, recording.note = data.get("error"), data.get("note")
        return recording

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the recording as JSON; a file of that name stays whole until the new one is."""
        text = json.dumps(self.to_dict(), ensure_ascii=False, separators=(",", ":"))
        with written_whole(path) as file:
            file.write(text.encode())

    def to_html(
        self, path: str | os.PathLike[str], title: str | None = None, *, slides: bool = False
    ) -> None:
        """Write one page that steps through the recording: no kernel, no install, no network.

        With ``slides=True`` code, graph and caption fill the window in large type, and arrow keys
        or a presenter's remote control step.
        """
        view = late("view")
        view.to_html(view.build(self), path, title=title, slides=slides)

    def to_svg(self, step: int = -1) -> str:
        """Return the picture of a step, by default the last, with its caption: for paper, slides.

        Raises
        ------
        IndexError
            If there is no such step; the message says how many there are.

        Examples
        --------
        >>> import autodiff_kit as ak
        >>> with ak.record() as rec:
        ...     x = ak.tensor(3.0, requires_grad=True)
        ...     y = x * x
        >>> rec.to_svg(0).startswith("<svg")
        True
        """
        view = late("view")
        return str(view.still_svg(view.build(self), step, caption=True))

    def to_text(self, step: int | None = None) -> str:
        """Tell the graph, and one step of it, in words."""
        view = late("view")
        return str(view.to_text(view.build(self), step))

    def _repr_svg_(self) -> str | None:
        view = late("view")
        return str(view.still_svg(view.build(self))) if self.nodes else None

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Recording:
        """Read a recording that ``save`` wrote.

        Raises
        ------
        RecordingError
            If the file was cut short, is damaged, is no recording, or is of a newer version.
        OSError
            If there is no such file, or it cannot be read.
        """
        name = Path(path).name
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
        except (ValueError, RecursionError) as error:
            raise RecordingError(
                f"{name} cannot be read as a recording: {error}.\n"
                "-> The file was cut short or is something else. Save the recording again; the "
                "file is as it was."
            ) from None
        return cls.from_dict(data, name=name)


def _title(node: NodeRecord) -> str:
    name, text = node["name"], node["text"]
    if node["op"] in ("put", "index_put", "copy_slices") and text:  # `y[0] = 5.` reads nothing
        try:
            is_item = isinstance(ast.parse(text, mode="eval").body, ast.Subscript)
        except SyntaxError:  # `y[1:] += x[1:]`
            is_item = False
        return f"{text} = ..." if is_item else text
    if node["kind"] == "op" and name and text:
        return f"{name} = {text}"
    return str(name or text or node["op"] or "a leaf")
