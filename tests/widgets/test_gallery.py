"""The page that shows the design: it shows each control, and each colour as the widgets have it."""

import html
import json
import re

from autodiff_kit import widgets
from autodiff_kit.lessons.programs.labs import sample_labs
from autodiff_kit.view.viewer import static
from autodiff_kit.widgets import controls
from autodiff_kit.widgets.gallery import MEANINGS, gallery


def kinds(names):
    return {getattr(getattr(controls, name), "kind", None) for name in names} - {None}


def test_each_control_and_each_state_of_a_card_is_shown_by_day_and_by_night(tmp_path):
    page = gallery(tmp_path / "design.html").read_text("utf-8")

    labs = [json.loads(html.unescape(data)) for data in re.findall(r'data-lab="([^"]*)"', page)]
    assert {c["kind"] for lab in labs for c in lab["_controls"]} == kinds(controls.__all__)
    assert labs[::2] == labs[1::2]
    assert any(lab["alert"] for lab in labs)
    assert any(not lab["svg"] for lab in labs)
    assert page.count(" data-busy") == 2


def test_every_lab_is_shown_and_each_of_its_controls_says_what_it_changes():
    labs = list(sample_labs())

    with_python_below = {"StepThrough", "BesidePyTorch", "Lab"}  # a Stepper; PyTorch itself
    classes = {
        n
        for n in widgets.__all__
        if isinstance(getattr(widgets, n), type) and issubclass(getattr(widgets, n), widgets.Lab)
    }
    assert {type(lab).__name__ for lab in labs} == classes - with_python_below
    for lab in [*labs, widgets.StepThrough(lambda x=3.0, n=2: x * n)]:
        assert lab.message == ""
        for name, control in lab.controls.items():
            assert control.help.endswith("."), (lab, name)


def test_each_colour_is_that_of_the_widgets(tmp_path):
    page = gallery(tmp_path / "design.html").read_text("utf-8")

    sheet = static("kit.css")
    for name in MEANINGS:
        pair = re.search(rf"--adk-{name}: (?:var\([^,]+, )?light-dark\((#\w+), (#\w+)\)", sheet)
        assert pair is not None, name
        for colour in pair.groups():
            assert f"<code>{name} {colour}</code>" in page
