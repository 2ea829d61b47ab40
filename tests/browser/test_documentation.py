"""Documentation built with Sphinx, opened from ``file://``: Steppers in somebody else's page."""

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.sphinxext.building import SAMPLE, build

NEEDED = ("sphinx", "myst_parser", "furo", "pydata_sphinx_theme")
if os.environ.get("ADK_REQUIRE_SPHINX") != "1" and not all(map(importlib.util.find_spec, NEEDED)):
    pytest.skip('needs the extras "sphinx" and "browser"', allow_module_level=True)

pytestmark = pytest.mark.browser

MODE = ("-D", "html_context.default_mode=auto")  # else pydata's theme complains on the console
INK = "element => getComputedStyle(element).color"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The sample's folder, built with a theme."""
    folder = tmp_path_factory.mktemp("documentation")

    def built(theme: str) -> Path:
        out = folder / theme
        if not out.exists():
            assert build(SAMPLE, out, "html", options=("-D", f"html_theme={theme}", *MODE)) == ""
        return out / "html"

    return built


def live(page: Any) -> Any:
    return page.locator(".autodiff-step-live .adk-root")


def luminance(colour: str) -> float:
    """Of ``rgb(233, 238, 245)``, from 0 to 255."""
    numbers = colour.partition("(")[2].rstrip(")").split(",")
    return sum(map(float, numbers[:3])) / 3


def test_steppers_of_a_page_step_each_by_itself(
    pages: Callable[[str], Path], desk: Callable[..., Any], board: Any
) -> None:
    page = desk().page
    page.goto((pages("furo") / "index.html").as_uri())
    page.evaluate("localStorage.clear()")  # another test may have read the hint
    page.reload()
    live(page).nth(3).wait_for()
    assert page.evaluate("document.activeElement === document.body && scrollY === 0")
    first, third = board(page, 0), board(page, 2)

    first.press("Step forward")
    third.press("Last step")
    third.press("Step back")

    assert (first.step, third.step) == (1, third.last - 1)
    assert first.lit == "torch.tensor([0.5, -1.0], requires_grad=True)"
    assert page.locator(".autodiff-step-still:visible, .autodiff-step-code:visible").count() == 0
    assert page.locator(".adk-welcome").count() == 1  # the hint, once a page


def test_a_stepper_opens_at_the_step_that_the_author_named(
    pages: Callable[[str], Path], desk: Callable[..., Any], board: Any
) -> None:
    page = desk().page
    page.goto((pages("furo") / "index.html").as_uri())
    live(page).nth(3).wait_for()

    stepper = board(page, 1)

    assert stepper.step == stepper.last
    assert stepper.caption == "Backward is done: w.grad is 7.0."


@pytest.mark.parametrize(
    ("theme", "place"), [("furo", "body"), ("pydata_sphinx_theme", "documentElement")]
)
def test_steppers_are_as_dark_as_the_page_whenever_its_theme_is_changed(
    pages: Callable[[str], Path], desk: Callable[..., Any], theme: str, place: str
) -> None:
    page = desk().page
    page.goto((pages(theme) / "index.html").as_uri())
    live(page).nth(3).wait_for()

    for name, is_dark in (("dark", True), ("light", False), ("dark", True)):
        page.evaluate(f"document.{place}.dataset.theme = '{name}'")  # as the theme's button does
        page.wait_for_timeout(700)
        inks = [page.locator("article p").first, *(live(page).nth(k) for k in range(4))]
        assert [luminance(ink.evaluate(INK)) > 128 for ink in inks] == [is_dark] * 5


def test_a_theme_that_is_always_light_has_light_steppers_on_a_dark_desktop(
    pages: Callable[[str], Path], desk: Callable[..., Any]
) -> None:
    page = desk(dark=True).page
    page.goto((pages("alabaster") / "graphs.html").as_uri())
    live(page).nth(2).wait_for()

    assert luminance(live(page).first.evaluate(INK)) < 128


def test_paper_gets_code_and_a_light_picture_of_the_step(
    pages: Callable[[str], Path], desk: Callable[..., Any]
) -> None:
    page = desk(dark=True).page
    page.goto((pages("pydata_sphinx_theme") / "index.html").as_uri())
    live(page).nth(3).wait_for()

    page.emulate_media(media="print")
    page.wait_for_timeout(700)

    assert page.locator(".autodiff-step-live:visible").count() == 0
    assert page.locator(".autodiff-step-still > svg:visible").count() == 4
    assert page.locator(".autodiff-step-code:visible").count() == 4
    paper = page.locator(".autodiff-step-still .adk-paper").first
    assert luminance(paper.evaluate("element => getComputedStyle(element).fill")) > 200


def test_without_scripts_there_are_code_and_picture(
    pages: Callable[[str], Path], browser: Any
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((pages("furo") / "index.html").as_uri())

    assert page.locator(".autodiff-step-still > svg:visible").count() == 4
    assert page.locator(".autodiff-step-code:visible").count() == 4
    context.close()


def test_a_page_in_a_frame_does_not_take_the_keys_from_what_is_around_it(
    tmp_path: Path, desk: Callable[..., Any], payload: dict[str, Any]
) -> None:
    from autodiff_kit.view.page import to_html

    to_html(payload, tmp_path / "steps.html")  # type: ignore[arg-type]
    around = '<p>text</p><iframe src="steps.html" width="100%" height="640" title="x"></iframe>'
    (tmp_path / "lesson.html").write_text(f"<!DOCTYPE html><title>x</title>{around}")
    page = desk().page
    page.goto((tmp_path / "lesson.html").as_uri())
    frame = page.frame_locator("iframe")
    frame.locator(".adk-counter").wait_for()

    assert page.evaluate("document.activeElement === document.body")
    frame.locator(".adk-caption").click()
    page.keyboard.press("n")
    assert frame.locator(".adk-counter").inner_text().startswith("2 of")
