"""Widgets end with the test that made them."""

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def no_widget_is_left() -> Iterator[None]:
    """Close all widgets: ipywidgets keeps each that is open, and all that it refers to."""
    yield
    from ipywidgets import Widget

    Widget.close_all()
