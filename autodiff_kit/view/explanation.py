"""The last step of a run that an error has ended: why, place by place, and what to write instead.

After reading you know what the Stepper shows of an error, and how the same reads as text. What
went wrong is found by ``story_told.py``, as for ``ErrorStory``. Read next: ``story_told.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from autodiff_kit.errors import advice_on
from autodiff_kit.record.events import ErrorRecord, RecordingData
from autodiff_kit.view.outline import Outline
from autodiff_kit.view.payload import Explanation, Place
from autodiff_kit.view.story_told import cause
from autodiff_kit.view.words import sentence

__all__ = ["explain", "in_sentences", "numbers_at", "summary"]

ADVICE = "\n-> "  # before what this kit adds to a message


def explain(recording: RecordingData, outline: Outline) -> Explanation:
    """Explain the error that has ended a run; the places are those of its drawing.

    Parameters
    ----------
    recording : dict
        A run that an error has ended.
    outline : Outline
        The boxes of the drawing.

    Returns
    -------
    Explanation - of an error that is not about the graph: the place, the message and its advice.
    """
    error = recording["error"] or ErrorRecord(type="Error", message="", where=None)
    message, *advice = str(error["message"]).split(ADVICE)
    message = message.split(" Hint:")[0].strip()
    hint = " ".join((" ".join(advice) or advice_on(error["type"], message)).split())
    story = cause(recording)
    if story is None:
        where = error["where"]
        line = _line_number(recording, where)
        place = Place(words="The code stopped here.", where=where, line=line, node=None)
        return Explanation(error=error["type"], title="", places=[place], fix=hint, message=message)
    title, chapters, fix = story
    places = [
        Place(
            words=sentence(chapter.words),
            where=None if chapter.where is None else list(chapter.where),
            line=_line_number(recording, chapter.where),
            node=None if chapter.node is None else outline.box_of[chapter.node].id,
        )
        for chapter in chapters
    ]
    if fix != hint:  # which may begin with the name of a function
        fix = sentence(fix[:1].upper() + fix[1:])
    return Explanation(error=error["type"], title=title, places=places, fix=fix, message=message)


def _line_number(recording: RecordingData, where: Sequence[int] | None) -> int | None:
    """Return the number that stands beside the first line of a place."""
    if where is None:
        return None
    return where[1] - 1 + int(recording["sources"][where[0]].get("first_line", 1))


def summary(explanation: Explanation) -> str:
    """Return the step in one or two sentences: that the code stopped, and why."""
    reason = explanation["title"] or explanation["message"].split("\n")[0]
    return sentence(f"The code stopped here with {explanation['error']}: {reason}").replace("`", "")


def numbers_at(explanation: Explanation) -> dict[str, list[int]]:
    """Return which places are at which box, by number; none where the message says all there is."""
    numbers: dict[str, list[int]] = {}
    for number, place in enumerate(explanation["places"] if explanation["title"] else (), 1):
        if place["node"] is not None:
            numbers.setdefault(place["node"], []).append(number)
    return numbers


def in_sentences(explanation: Explanation) -> Iterator[str]:
    """Yield the explanation line by line, for those who have no widget before them."""
    if explanation["title"]:
        for number, place in enumerate(explanation["places"], 1):
            at = "" if place["line"] is None else f"Line {place['line']}: "
            yield f"{number}. {at}{place['words']}".replace("`", "")
    if explanation["fix"]:
        yield f"How to fix it: {explanation['fix']}".replace("`", "")
    if explanation["title"]:
        yield f"{explanation['error']}: {explanation['message']}"
