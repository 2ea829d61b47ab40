"""The field's words, in the package, its messages and the documents."""

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
