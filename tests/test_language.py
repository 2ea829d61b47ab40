"""The field's words, in the package, its messages and the documents, and names in the code."""

import pytest

from tests import language


def test_no_homemade_word_stands_for_a_term_of_the_field() -> None:
    assert [f"{place}: {word!r} -> {instead}" for place, word, instead in language.homemade()] == []


@pytest.mark.parametrize(
    "sentence",
    ["Whole numbers have no gradient.", "It hands on what comes back.", "Nobody can mend that."],
)
def test_a_homemade_word_is_found(sentence: str) -> None:
    assert language.homemade_in(sentence)
    assert language.ANY_WORD.search(f"It is.\n{sentence}\nIt was.")


def test_no_participle_is_the_name_of_a_thing() -> None:
    assert list(language.participles()) == []


@pytest.mark.parametrize(
    "source",
    [
        "found = [1]",
        "for seen in (1, 2): pass",
        "with open(path) as made: pass",
        "(told, x), *given = values",
        "kept: list[int]",
        "if (said := f()): pass",
        "def f(wanted): pass",
        "def f(*, shown=1): pass",
        "lambda given: 1",
        "[asked for asked in x]",
        "self._made = {}",
    ],
)
def test_a_participle_is_found_wherever_a_name_is_bound(source: str) -> None:
    assert list(language.participles_in(source))


@pytest.mark.parametrize("source", ["x.found()", "print(seen)", "nodes_found = 1", "f(given=1)"])
def test_what_binds_no_name_may_be_a_participle(source: str) -> None:
    assert not list(language.participles_in(source))
