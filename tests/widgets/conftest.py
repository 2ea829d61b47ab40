"""Widgets end with the test that made them."""

import pytest


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Close all widgets: ipywidgets keeps each that is open, and all that it refers to."""
    from ipywidgets import Widget

    Widget.close_all()
