"""Find hand-ins whose code is alike beyond what was handed out and what many write.

After reading this file you can say why other names, comments, line breaks and moved functions hide
nothing, and why short right answers, which must be alike, are not reported. It is winnowing
(Schleimer, Wilkerson and Aiken, 2003: "Winnowing: Local Algorithms for Document Fingerprinting").
Nothing of a learner's is parsed or run: what is compared are the words that a regular expression
finds. Read next: ``similar_page.py``.
"""

from __future__ import annotations

import itertools
import keyword
import re
import zlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Pair", "Work", "pairs_of"]

LENGTH, WINDOW = 12, 8  # words of one print; of so many in a row the least is kept
FEWEST = 5  # prints that two have in common and few others have
MANY = 4  # learners who may share a print; more of them, or a tenth of a class, show what is usual

_WORD = re.compile(
    r"""(?P<comment>\#[^\n]*)
    |(?P<text>[rRbBuUfF]{0,2}(?:\"{3}(?:\\.|[^\\])*?(?:\"{3}|\Z)|'{3}(?:\\.|[^\\])*?(?:'{3}|\Z)
      |\"(?:\\.|[^"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?))
    |(?P<name>[^\W\d]\w*)|(?P<number>\d[\w.]*)|(?P<space>\s+)|(?P<sign>.)""",
    re.DOTALL | re.VERBOSE,
)


@dataclass(frozen=True)
class Work:
    """What a learner handed in.

    Attributes
    ----------
    student : str
    name : str
    code : str
        All cells that can be written in, one below the other.
    """

    student: str
    name: str
    code: str


@dataclass(frozen=True)
class Pair:
    """Two hand-ins that are alike.

    Attributes
    ----------
    first, second : Work
    share : float
        How much of the shorter one's own prints the other has, names aside, from 0 to 1.
    exact : float
        The same with names as they are written.
    prints : int
        How many there are in common.
    lines : (frozenset of int, frozenset of int)
        Of each, from 1: where what they have in common stands.
    """

    first: Work
    second: Work
    share: float
    exact: float
    prints: int
    lines: tuple[frozenset[int], frozenset[int]]


def pairs_of(works: Sequence[Work], handed_out: Iterable[str], at_least: float = 0.5) -> list[Pair]:
    """Return who is alike, the most alike first.

    Parameters
    ----------
    works : sequence of Work
        One for each learner.
    handed_out : iterable of str
        Code that everybody was given: the released notebook, and solutions if they are public.
    at_least : float
        The least share to be reported.
    """
    public = set[int]().union(*(_prints(code, names=False) for code in handed_out))
    prints = [_prints(work.code, names=False) for work in works]
    owners: dict[int, list[int]] = defaultdict(list)
    for number, own in enumerate(prints):
        for print_ in own.keys() - public:
            owners[print_].append(number)
    most = max(MANY, len(works) // 10)
    rare = {print_: having for print_, having in owners.items() if len(having) <= most}
    own_count = [sum(print_ in rare for print_ in own) for own in prints]
    common: dict[tuple[int, int], list[int]] = defaultdict(list)
    for print_, having in rare.items():
        for pair in itertools.combinations(having, 2):
            common[pair].append(print_)
    pairs = []
    for (first, second), shared in common.items():
        share = len(shared) / min(own_count[first], own_count[second])
        if len(shared) >= FEWEST and share >= at_least:
            pairs.append(_pair(works[first], works[second], shared, share, prints, first, second))
    return sorted(pairs, key=lambda pair: (-pair.share, -pair.prints, pair.first.student))


def _pair(
    first: Work,
    second: Work,
    shared: Collection[int],
    share: float,
    prints: Sequence[Mapping[int, frozenset[int]]],
    *numbers: int,
) -> Pair:
    exact = [_prints(work.code, names=True).keys() for work in (first, second)]
    lines = [
        frozenset(line for print_ in shared for line in prints[number][print_])
        for number in numbers
    ]
    least = min(map(len, exact)) or 1
    return Pair(
        *(first, second, share, len(exact[0] & exact[1]) / least),
        prints=len(shared),
        lines=(lines[0], lines[1]),
    )


def _prints(code: str, *, names: bool) -> dict[int, frozenset[int]]:
    """Return the fingerprints of some code, each with the lines that it was taken from."""
    words, lines, line = list[str](), list[int](), 1
    for match in _WORD.finditer(code):
        kind, text = str(match.lastgroup), match[0]
        if kind not in ("comment", "space") and text not in "()":  # which may often be left out
            is_plain = names or kind == "sign" or keyword.iskeyword(text)
            words.append(text if is_plain else kind)
            lines.append(line)
        line += text.count("\n")
    marks = [
        zlib.crc32("\0".join(words[k : k + LENGTH]).encode("utf-8", "replace"))
        for k in range(len(words) - LENGTH + 1)
    ]
    places: dict[int, set[int]] = defaultdict(set)
    latest = -1
    for start in range(max(len(marks) - WINDOW + 1, min(len(marks), 1))):
        window = range(start, min(start + WINDOW, len(marks)))
        least = min(window, key=lambda k: (marks[k], -k))  # the rightmost of the least
        if least != latest:
            latest = least
            places[marks[least]].update(lines[least : least + LENGTH])
    return {mark: frozenset(own) for mark, own in places.items()}
