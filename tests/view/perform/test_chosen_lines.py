"""A part of a larger recording is performed: the nodes of some lines, and no others."""

from __future__ import annotations

import pytest

from autodiff_kit.view.perform import PerformError, Walk, perform_script
from autodiff_kit.view.perform.context import MOST
from tests.grading.performers import right_answer
from tests.view.perform.programs import recording_of

ROUNDS = 40
LARGE = f"""w = torch.tensor(1.0, requires_grad=True)
v = torch.tensor(3.0, requires_grad=True)
h = torch.tensor(2.0)
for _ in range({ROUNDS}):
    h = h * 1.0
    h = h * w
a = h * h
b = a + v
loss = b * a
loss.backward()
"""
LAST = (7, 9)


def performed(walk: Walk) -> list[str]:
    prompts = []
    while walk.task is not None:
        prompts.append(walk.task["prompt"])
        verdict = walk.answer(right_answer(walk.task))
        assert verdict.outcome == "right"
    return prompts


def test_a_large_recording_is_refused_with_how_to_choose_a_part() -> None:
    with pytest.raises(PerformError, match=r"BeTheEngine\(rec, lines=\(3, 5\)\)"):
        perform_script(recording_of(LARGE))


def test_the_nodes_of_the_chosen_lines_are_asked_about_and_no_others() -> None:
    recording = recording_of(LARGE)
    assert len(recording.nodes) > MOST
    script = perform_script(recording, lines=LAST)

    prompts = performed(Walk(script))

    lines = {task["where"][1] for task in script["tasks"].values() if task["where"]}
    assert lines - {10} == {7, 8, 9}  # the backward pass begins in line 10
    questions = {
        prompt.partition(" pass to")[0] for prompt in prompts if prompt.startswith("What does `")
    }
    assert questions == {"What does `loss`", "What does `b`", "What does `a`"}
    assert len(prompts) < 40


def test_a_leaf_is_asked_for_if_all_that_reads_it_is_in_the_lines() -> None:
    tasks = perform_script(recording_of(LARGE), "state", lines=LAST)["tasks"].values()

    # loss = (h * h + v) * h * h, with h = 2: by v it is h * h. The line of w is another one.
    leaves = {t["prompt"]: t["answers"][0]["at"][0]["data"] for t in tasks if t["about"] == "leaf"}
    assert leaves == {"What is `v.grad` at the end?": [4.0]}


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ((20, 30), r"nothing to perform in lines 20 to 30"),
        ((5, 6), rf"have {2 * ROUNDS} operations, and a performance has at most {MOST}"),
    ],
)
def test_lines_that_cannot_be_performed_are_refused(lines: tuple[int, int], words: str) -> None:
    with pytest.raises(PerformError, match=words):
        perform_script(recording_of(LARGE), lines=lines)


def test_a_picture_has_its_own_limit() -> None:
    with pytest.raises(PerformError, match="at most 400 in its picture"):
        perform_script(recording_of(LARGE.replace(str(ROUNDS), "400")), lines=LAST)
