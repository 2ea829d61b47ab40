"""Performs in a browser: what a player of the bank answers, by mouse or by keyboard alone."""

from __future__ import annotations

from typing import Any

from autodiff_kit.view.perform import Script, Task, Walk
from tests.view.perform.players import Player

OPTION_TEXT = "() => [...document.querySelectorAll('.adk-option')].map((e) => e.dataset.value)"


class Performance:
    """A performance in a page, in step with one in Python that says what the right answers are."""

    def __init__(self, page: Any, script: Script, player: Player, *, keys: bool = False) -> None:
        self.page, self.walk, self.player, self.keys = page, Walk(script), player, keys
        self.root = page.locator(".adk-engine")
        self.root.locator(".adk-prompt").wait_for()

    @property
    def prompt(self) -> str:
        """The question that is seen."""
        return str(self.root.locator(".adk-prompt").inner_text())

    @property
    def task(self) -> Task:
        """The task that is seen: those in between were performed by the kit."""
        while self.walk.task and self.walk.task["prompt"].replace("`", "") != self.prompt:
            self.player.answer(self.walk.task)  # it keeps in step
            self.follow()
            self.walk.skip()
        assert self.walk.task is not None, self.prompt
        return self.walk.task

    def follow(self) -> None:
        """Let the player see what is done without it."""

    @property
    def verdict(self) -> str:
        """What came of the last answer."""
        return str(self.root.locator(".adk-verdict").inner_text())

    def is_over(self) -> bool:
        return self.root.get_by_role("button", name="Perform it again").count() > 0

    def right(self) -> None:
        """Give the right answer to the question that is seen."""
        task = self.task
        answer = self.player.answer(task)
        self.give(task, answer)
        self.walk.answer(answer)
        if task["about"] == "next":
            self.player.visited.add(int(str(answer)))

    def until(self, about: str) -> Task:
        """Perform up to a question of a kind."""
        while self.task["about"] != about:
            self.right()
        return self.task

    def all(self) -> None:
        """Perform to the end."""
        while not self.is_over():
            self.right()

    def give(self, task: Task, answer: Any) -> None:
        """Answer as a learner does."""
        if task["kind"] in ("node", "nodes"):
            for box in [answer] if isinstance(answer, str) else answer:
                self.choose(box)
            if task["kind"] == "nodes":
                self.check()
        elif self.root.locator(".adk-typed").count():
            field = self.root.locator(".adk-typed")
            if self.keys:
                self.page.keyboard.type(str(answer))
                self.page.keyboard.press("Enter")
            else:
                field.fill(str(answer))
                self.check()
        elif task["kind"] == "several":
            for value in answer:
                self.option(value)
            self.check()
        else:
            value = str(answer)
            if task["kind"] == "value":
                value = self.option_of(task)
            self.option(value)

    def option_of(self, task: Task) -> str:
        """Return the option that has the right value."""
        from autodiff_kit.view.perform import judge

        right = [o["value"] for o in task["options"] if judge(task, o["value"]).outcome == "right"]
        assert len(right) == 1
        return right[0]

    def option(self, value: str) -> None:
        values = self.page.evaluate(OPTION_TEXT)
        if self.keys:
            self.page.keyboard.press(str(values.index(value) + 1))
        else:
            self.root.locator(".adk-option").nth(values.index(value)).click()

    def choose(self, box: str) -> None:
        """Choose a node of the graph."""
        if not self.keys:
            corner = {"x": 6, "y": 14}
            self.root.locator(f'[data-node="{box}"] .adk-box').click(position=corner, force=True)
            return
        self.page.keyboard.press("g")
        self.page.keyboard.press("Home")
        for _ in range(60):
            focused = "() => document.activeElement.closest('[data-node]')?.dataset.node"
            if self.page.evaluate(focused) == box:
                break
            self.page.keyboard.press("ArrowRight")
        self.page.keyboard.press("Enter")

    def check(self) -> None:
        if self.keys:
            self.page.keyboard.press("c")
        else:
            self.root.get_by_role("button", name="Check", exact=True).click()
