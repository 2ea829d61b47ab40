"""Performances over a bank of graphs: right ones are never accused, each mistake has its name."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from autodiff_kit.view.perform import MISCONCEPTIONS, Script, Walk, perform_script
from tests.gate import some
from tests.view.perform.bank import PROGRAMS, execute, run
from tests.view.perform.players import MUTANTS, Mutant, Player, perform

RIGHT = 1_000
SEEDS = 3  # of each mutant on each graph
GRAPHS = 2  # on which each misconception shows, at least


@cache
def script(title: str) -> Script:
    return perform_script(run(title).recording)


def test_the_bank_has_graphs_of_many_kinds() -> None:
    assert len(PROGRAMS) >= 25


def test_a_right_performance_is_never_accused() -> None:
    titles = list(PROGRAMS)

    for number in some(range(RIGHT), 300):
        title = titles[number % len(titles)]
        walk = Walk(script(title))
        player = Player(title, seed=number)
        wrong = [(t["prompt"], answer, v) for t, answer, v in perform(walk, player)]
        assert wrong == [], f"{title}, seed {number}"
        result = walk.result()
        assert (result["misconceptions"], result["possible"]) == ([], [])
        assert result["at_once"] == result["asked"] > 0


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.misconception)
def test_a_mutant_is_named_by_exactly_its_misconception(mutant: type[Mutant]) -> None:
    shows: Counter[str] = Counter()

    for title in PROGRAMS:
        for seed in range(SEEDS):
            player = mutant(title, seed=seed)
            walk = Walk(script(title))
            wrong = perform(walk, player)
            assert len(wrong) == player.slips
            for task, answer, verdict in wrong:
                texts = (title, task["prompt"], answer, verdict.text)
                assert mutant.misconception in verdict.misconceptions, texts
                is_clear = len(verdict.misconceptions) == 1
                assert is_clear or "Two mistakes give this value" in verdict.text, texts
            if player.slips:
                shows[title] += player.slips
                assert walk.result()["possible"] == []
                assert walk.result()["misconceptions"] == [mutant.misconception]

    assert len(shows) >= GRAPHS


def test_there_is_a_mutant_for_each_misconception() -> None:
    assert {mutant.misconception for mutant in MUTANTS} == set(MISCONCEPTIONS)
    assert len(MUTANTS) == 13


def test_every_recognised_mistake_has_its_own_sentence_and_a_mark() -> None:
    """Except where the choice itself is the picture: a question with options alone."""
    texts: dict[str, set[str]] = {}
    for title in PROGRAMS:
        for task in script(title)["tasks"].values():
            for slip in task["slips"]:
                for name in slip["is"]:
                    texts.setdefault(name, set()).add(slip["text"])
                    assert slip["marks"] or task["about"] == "again", (title, task["prompt"])
                assert slip["text"]
    steps = [text for own in texts.values() for text in own]
    assert set(texts) | {"too_early"} == set(MISCONCEPTIONS)
    shared = [text for text, count in Counter(steps).items() if count > 1]
    assert shared == []


def test_the_leaves_of_pytorch_hold_what_the_script_accepts() -> None:
    torch = pytest.importorskip("torch")

    for title, program in PROGRAMS.items():
        if "changed" in title:
            continue
        names = execute(program.source, torch)
        tasks = [t for t in script(title)["tasks"].values() if t["about"] == "leaf"]
        assert tasks
        for task in tasks:
            grad = names[run(title).recording.nodes[int(task["node"] or 0)]["name"]].grad
            (answer,) = task["answers"]
            if grad is None:
                assert answer == {"none": True}, (title, task["prompt"])
            else:
                assert grad.flatten().tolist() == pytest.approx(answer["at"][0]["data"], rel=1e-4)


def test_a_second_pass_of_pytorch_does_what_the_script_says() -> None:
    torch = pytest.importorskip("torch")

    for title, program in PROGRAMS.items():
        tasks = [t for t in script(title)["tasks"].values() if t["about"] == "again"]
        for task in tasks:
            root = next(
                node.get("variable") or node["name"]
                for node in run(title).recording.nodes
                if node["name"] == task["prompt"].split("`")[1]
            )
            try:
                execute(program.source, torch, more=f"{root}.backward()")
                outcome = "adds"
            except RuntimeError:
                outcome = "error"
            assert task["answers"] == [{"one": outcome}], title
