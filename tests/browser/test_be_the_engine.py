"""Be the engine in a real browser: performances in a page without a kernel, and in Jupyter."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from autodiff_kit.view.perform.page import perform_payload, perform_to_html
from autodiff_kit.view.viewer import static
from tests.browser.labs import write
from tests.browser.performing import OPTION_TEXT, Performance
from tests.view.perform.bank import run
from tests.view.perform.players import Player

pytestmark = pytest.mark.browser

LOOKS = [
    {"width": 1400},
    {"width": 900, "dark": True},
    {"width": 400},
    {"width": 400, "dark": True},
]
WIDE_LOOK = "() => document.documentElement.scrollWidth <= window.innerWidth"
# Contrast of the texts that an answer draws, by the formula of WCAG 2.2.
CONTRAST = """() => {
  const light = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map(Number).map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  return [...document.querySelectorAll(".adk-pill")].map((pill) => {
    const [rect, text] = pill.children;
    const [a, b] = [rect, text].map((one) => light(getComputedStyle(one).fill));
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  });
}"""


@pytest.fixture
def page(tmp_path: Path, desk: Callable[..., Any]) -> Callable[..., Performance]:
    """Open a page on which a program of the bank is performed, ``page("the mock", width=900)``."""

    def make(
        title: str, *, level: str = "guided", only: Any = None, keys: bool = False, **how: Any
    ) -> Performance:
        payload, _ = perform_payload(run(title).recording, only)
        target = desk(**{"height": 800, **how}).page
        target.goto(perform_to_html(payload, tmp_path / "lab.html", level=level).as_uri())
        return Performance(target, payload["script"], Player(title, seed=3), keys=keys)

    return make


def clean(lab: Performance, axe: str) -> list[Any]:
    """Return what axe-core finds in the lab."""
    lab.page.evaluate(f"() => {{ {axe} }}")
    report = lab.root.evaluate("root => axe.run(root)")
    return [(rule["id"], rule["nodes"][0]["html"]) for rule in report["violations"]]


@pytest.mark.parametrize(
    ("how", "keys"),
    [(LOOKS[0], False), (LOOKS[3], False), (LOOKS[1], True), (LOOKS[2], True)],
    ids=["mouse, wide", "mouse, narrow and dark", "keyboard, dark", "keyboard, narrow"],
)
def test_a_whole_performance_ends_with_what_was_mastered(
    how: dict[str, Any], keys: bool, page: Callable[..., Performance], axe: str
) -> None:
    lab = page("the mock", keys=keys, **how)
    assert clean(lab, axe) == []

    lab.all()

    assert lab.prompt.endswith("answers right at once")
    assert "compute a contribution" in lab.root.inner_text()
    assert lab.root.locator(".adk-list-bad").count() == 0
    assert clean(lab, axe) == []
    assert lab.page.evaluate(WIDE_LOOK)


def test_values_can_be_typed_with_the_keyboard_alone(page: Callable[..., Performance]) -> None:
    lab = page("a bias broadcast", level="free", only="backward", keys=True)

    lab.all()

    assert lab.prompt.endswith("answers right at once")


@pytest.mark.parametrize("how", LOOKS[1:3], ids=["dark", "narrow"])
def test_a_node_that_is_not_ready_shows_what_is_missing(
    how: dict[str, Any], page: Callable[..., Performance], axe: str
) -> None:
    lab = page("the mock", only="backward", **how)
    lab.until("next")

    lab.choose("2")

    assert "Not a yet: it gets 2 contributions, and 1 has arrived." in lab.verdict
    assert lab.root.locator(".adk-over-missing").count() == 1
    assert lab.root.locator(".adk-pill-missing").text_content() == "not here yet"
    assert lab.root.locator(".adk-cross").count() == 1
    assert clean(lab, axe) == []
    assert min(lab.page.evaluate(CONTRAST)) >= 4.5
    lab.root.get_by_role("button", name="Try again").click()
    assert lab.root.locator(".adk-marks > *").count() == 0
    lab.all()
    assert "later" in lab.prompt


def test_wrong_twice_offers_a_smaller_question_and_never_the_answer(
    page: Callable[..., Performance],
) -> None:
    lab = page("the mock", level="free", only="backward")
    lab.until("value")
    while "a pass to w" not in lab.prompt:
        lab.right()
    offer = lab.root.get_by_role("button", name="A smaller question")

    lab.give(lab.task, "2")
    assert "local slope of a alone" in lab.verdict
    assert lab.root.locator(".adk-outline-look").count() == 1
    assert offer.count() == 0
    lab.give(lab.task, "45")
    assert "You multiplied by w itself" in lab.verdict
    assert "30" not in lab.verdict
    offer.click()

    assert lab.prompt.startswith("Take the gradient of a as 1 for a moment.")
    lab.root.locator(".adk-typed").fill("x")
    lab.check()
    assert "Now multiply it" in lab.verdict
    assert lab.prompt == "What does a pass to w?"
    lab.give(lab.task, "15 * x")
    assert "a passes 30. to w" in lab.verdict


def test_a_branch_that_did_not_run_is_struck_out_in_the_code(
    page: Callable[..., Performance],
) -> None:
    lab = page("a branch", only="backward")
    lab.until("branch")

    lab.option("other")

    assert "y > 3 was True in this run" in lab.verdict
    assert "".join(lab.root.locator(".adk-unrun").all_text_contents()) == "z = y * 0.1"


@pytest.mark.parametrize(
    ("title", "box", "words"),
    [
        ("no_grad", "3", "q was computed inside of no_grad: nothing is recorded."),
        ("constants in a sum", "1", "x is data: it does not require a gradient."),
    ],
)
def test_a_node_that_gets_no_gradient_can_be_chosen_and_says_why(
    title: str, box: str, words: str, page: Callable[..., Performance]
) -> None:
    lab = page(title, only="backward")
    lab.until("targets")
    inputs = {"3": "loss", "1": "w * x"}
    while f"does {inputs[box]} pass" not in lab.prompt:
        lab.right()
        lab.until("targets")

    lab.choose(box)
    lab.check()

    assert words in lab.verdict
    assert lab.root.locator(".adk-bar").count() >= 1


def test_the_level_can_be_changed_at_any_time(page: Callable[..., Performance]) -> None:
    lab = page("the mock", only="backward")
    level = lab.root.get_by_role("radio")
    lab.until("value")
    assert lab.root.locator(".adk-option").count() >= 2

    level.filter(has_text="Free").click()
    assert lab.root.locator(".adk-typed").count() == 1
    level.filter(has_text="Worked").click()
    text = lab.root.locator(".adk-shown").inner_text()
    assert text == "Answer: 9."
    lab.root.get_by_role("button", name="Next step").click()
    lab.walk.show()
    assert lab.root.locator(".adk-option").count() >= 2  # the next of its kind is asked
    level.filter(has_text="Exam").click()
    assert lab.root.get_by_role("radio", checked=True).inner_text() == "✓ Exam"
    lab.root.locator(".adk-typed").fill("1000")
    lab.check()
    assert "kept" in lab.verdict
    assert "9" not in lab.verdict


# What is drawn of all parts, each in one line with its place in the page: as it is, and with one
# more style sheet. Both are read at once, since a lab may move a mark between two calls.
STYLES = """(text) => {
  const styles = () =>
    [...document.querySelectorAll('.adk-engine, .adk-engine *')].map((part, k) => {
      const style = getComputedStyle(part);
      const words = [...style].map((name) => `${name}: ${style.getPropertyValue(name)}`);
      return `${k} ${part.tagName} ${part.getAttribute('class')}: ${words.join('; ')}`;
    });
  const before = styles();
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  document.adoptedStyleSheets = [sheet];
  const after = styles();
  document.adoptedStyleSheets = [];
  return [before, after];
}"""


@pytest.mark.parametrize("how", LOOKS[:3], ids=["wide", "dark", "narrow"])
def test_a_stepper_below_it_changes_nothing(
    how: dict[str, Any], page: Callable[..., Performance]
) -> None:
    lab = page("the mock", only="backward", motion=False, **how)
    stepper = static("kit.css")  # the style sheet of each widget comes when it is drawn

    def differences(sheet: str = stepper) -> list[str]:
        before, after = lab.page.evaluate(STYLES, sheet)
        return [
            f"{name.partition(':')[0]}: {sorted(set(name.split('; ')) ^ set(other.split('; ')))}"
            for name, other in zip(before, after, strict=True)
            if name != other
        ]

    assert differences() == []
    assert differences(".adk-box { stroke-width: 5px }")  # what does change something is seen
    lab.until("next")
    lab.choose("2")
    assert differences() == []
    lab.root.get_by_role("button", name="Try again").click()
    lab.until("targets")
    first = lab.task["answers"][0]["all"][0]
    lab.choose(first)
    assert differences() == []
    lab.choose(first)
    lab.until("sum")
    assert differences() == []
    lab.all()
    assert differences() == []


def test_a_grad_that_is_asked_for_is_not_in_the_picture(page: Callable[..., Performance]) -> None:
    lab = page("the mock", only="state")
    gradients = lab.root.locator("[data-node] .adk-grad")

    assert lab.prompt == "What is w.grad at the end?"
    assert gradients.all_text_contents()[:2] == ["= ?", "?"]
    assert lab.root.locator(".adk-asked").get_attribute("data-node") == lab.task["node"]
    lab.right()
    assert [lab.prompt, *gradients.all_text_contents()[:2]] == [
        "What is x.grad at the end?",
        "= 36.",
        "?",
    ]
    lab.right()
    assert gradients.all_text_contents()[:2] == ["= 36.", "45."]
    assert lab.root.locator(".adk-asked").count() == 0


def test_an_exam_tells_at_the_end_what_was_wrong(page: Callable[..., Performance]) -> None:
    lab = page("a square", level="exam", only="backward")
    lab.walk.is_exam = True
    lab.until("count")
    lab.option("1")
    lab.walk.answer("1")
    assert lab.root.locator(".adk-pill-look, .adk-pill-wrong").count() == 0

    lab.all()

    text = lab.root.locator(".adk-ask").inner_text()
    assert "A tensor that is used twice gets two contributions." in text
    assert "How many contributions does y pass to x?" in text


def test_in_a_notebook_all_views_stand_at_one_place_and_the_result_comes_to_python(
    jupyter: Any, notebook: Callable[..., Any]
) -> None:
    source = "x = torch.tensor(3.0, requires_grad=True)\ny = x * x\ny.backward()"
    lab = "lab = BeTheEngine(rec, 'state')\nlab"
    cells = [f"%%engine rec --backward\n{source}", lab, "lab", "lab.result"]
    path = write(jupyter.folder, "engine", *cells)
    page = notebook(path, width=1400, height=1000)
    roots = page.locator(".adk-engine")
    first, second, its_other_view = (roots.nth(k) for k in range(3))
    first.locator(".adk-prompt").wait_for()

    box = first.locator('[data-node="1"] .adk-box')
    box.click(position={"x": 6, "y": 14})
    assert first.locator(".adk-prompt").inner_text() == "With which gradient does it begin at y?"
    page.keyboard.press("1")  # of the options, in the midst of Jupyter's own keys
    first.locator(".adk-verdict").wait_for()

    for value in ("6.", "no", "error"):
        second.locator(f'.adk-option[data-value="{value}"]').click()
    for view in (second, its_other_view):
        view.get_by_role("button", name="Perform it again").wait_for()
    text = page.get_by_text("'at_once': 3")
    for _ in range(40):  # what a widget tells may wait in the browser until the kernel is free
        page.evaluate("() => (window.jupyterapp.shell.currentWidget.content.activeCellIndex = 4)")
        page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-cell')")
        if text.count():
            break
        page.wait_for_timeout(250)
    text.wait_for()


# What a finger has to hit, and is smaller than 44 px in one direction.
SMALL = """() => [...document.querySelectorAll(
    '.adk-engine button, .adk-engine input, .adk-engine [data-node]:not(.adk-hidden) .adk-box')]
  .map((part) => [part.getAttribute('class'), part.getBoundingClientRect()])
  .filter(([, { width, height }]) => width > 0 && (width < 44 || height < 44))
  .map(([name]) => name)"""


@pytest.fixture
def phone(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """A page on a phone of 400 px, ``phone(payload)``: there is no mouse."""
    contexts = []

    def open_it(payload: Any, level: str) -> Any:
        size = {"width": 400, "height": 800}
        contexts.append(browser.new_context(viewport=size, has_touch=True, is_mobile=True))
        page = contexts[-1].new_page()
        page.goto(perform_to_html(payload, tmp_path / "lab.html", level=level).as_uri())
        return page

    yield open_it
    for context in contexts:
        context.close()


class Finger(Performance):
    """A performance by touch alone."""

    def option(self, value: str) -> None:
        values = self.page.evaluate(OPTION_TEXT)
        self.root.locator(".adk-option").nth(values.index(value)).tap()

    def choose(self, box: str) -> None:
        target = self.root.locator(f'[data-node="{box}"] .adk-box')
        target.tap(position={"x": 6, "y": 14})

    def check(self) -> None:
        self.root.get_by_role("button", name="Check", exact=True).tap()


@pytest.mark.parametrize("level", ["guided", "free"])
def test_a_whole_performance_on_a_phone_by_touch_alone(
    level: str, phone: Callable[..., Any]
) -> None:
    payload, _ = perform_payload(run("the mock").recording)
    page = phone(payload, level)
    lab = Finger(page, payload["script"], Player("the mock", seed=3))
    small = set()

    while not lab.is_over():
        small |= {*page.evaluate(SMALL)}
        lab.right()

    assert lab.prompt.endswith("answers right at once")
    assert small == set()
    assert page.evaluate(WIDE_LOOK)


def test_before_it_is_answered_a_box_does_not_say_whether_it_is_recorded(
    page: Callable[..., Performance],
) -> None:
    lab = page("the mock", only="build")
    counter = lab.root.locator(".adk-count")
    looks = "one => [getComputedStyle(one.querySelector('.adk-box')).strokeDasharray, "
    looks += "getComputedStyle(one.querySelector('.adk-op-label')).visibility]"

    assert (counter.inner_text(), "leaf that gets a gradient" in lab.prompt) == ("", True)
    leaf = lab.task["node"]
    box = lab.root.locator(f'[data-node="{leaf}"]')
    assert box.evaluate(looks) == ["none", "hidden"]
    lab.right()
    assert box.evaluate(looks) == ["none", "visible"]
    assert counter.inner_text() == "1 of 1 right at once."
    while "recorded" not in lab.prompt:
        lab.right()
    into = f'[data-edge][data-to="{lab.task["node"]}"]'
    edges = lab.root.locator(f"{into}:not(.adk-hidden)")
    assert edges.count() == 0
    lab.right()
    assert edges.count() == lab.root.locator(into).count() > 0


def test_nothing_cannot_be_chosen_beside_something(page: Callable[..., Performance]) -> None:
    lab = page("the mock", only="build")
    lab.until("saved")
    options = lab.root.locator(".adk-option")
    chosen = lab.root.locator('.adk-option[aria-pressed="true"]')

    lab.check()
    assert lab.root.locator(".adk-verdict-head").inner_text().endswith("Nothing is chosen yet")
    options.first.click()
    options.last.click()
    assert [option.inner_text().split()[-1] for option in chosen.all()] == ["Nothing"]
    options.first.click()
    assert chosen.count() == 1 and "Nothing" not in chosen.inner_text()


def test_what_was_shown_counts_neither_for_nor_against(page: Callable[..., Performance]) -> None:
    lab = page("a square", level="worked", only="backward")

    while lab.walk.task:
        if lab.root.locator(".adk-shown").count():
            lab.walk.show()
            lab.root.get_by_role("button", name="Next step").click()
        else:
            lab.right()

    words = lab.root.inner_text()
    assert "Shown, not asked yet" in words and "Practise" not in words
    assert re.fullmatch(r"(\d+) of \1 answers right at once, \d+ steps shown", lab.prompt)
