"""Looking at widgets in whatever page they are: what is drawn, and whether it answers."""

from __future__ import annotations

import time
from typing import Any

from tests.browser.frontends.items import Item

__all__ = ["seen"]

# Shapes and words, also inside of shadow roots; of controls nothing, as they change by themselves.
_STATE = """root => {
  const names = 'd x y x1 y1 x2 y2 cx cy width height points transform'.split(' ');
  const controls = 'input, select, option, textarea, button, label, .widget-readout';
  const told = (node) => {
    if (node.nodeType === 3) return node.data.trim();
    if (node.nodeType !== 1 && node.nodeType !== 11) return '';
    if (node.matches?.(controls) || node.matches?.('style, script')) return '';
    const isDrawn = node.namespaceURI?.endsWith('svg');
    const own = isDrawn ? names.map((n) => node.getAttribute(n) ?? '').join(' ') : '';
    const shadow = node.shadowRoot ? told(node.shadowRoot) : '';
    const image = node.tagName === 'IMG' ? node.src.slice(-200) : '';
    return [own, image, shadow, ...[...node.childNodes].map(told)].filter(Boolean).join('|');
  };
  return told(root);
}"""
_TROUBLE = (
    "Error displaying widget",
    "Loading widget",
    "model not found",
    "Traceback",
    "Click to show",
)


def seen(page: Any, place: Any, item: Item, seconds: float = 15.0) -> str:
    """Return "" if a widget is drawn and answers, else what is wrong; ``place`` is around it."""
    place.scroll_into_view_if_needed()
    until = time.monotonic() + seconds
    while trouble := _undrawn(place):
        if time.monotonic() > until:
            return trouble
        page.wait_for_timeout(200)
    if not item.acts:
        return ""
    page.wait_for_timeout(300)
    before = place.evaluate(_STATE)
    try:
        for act in item.acts:
            _do(page, place, act)
    except Exception as error:
        return f"drawn; no control to use: {str(error).splitlines()[0]}"
    until = time.monotonic() + seconds
    while place.evaluate(_STATE) == before:
        if time.monotonic() > until:
            return "drawn; does not answer"
        page.wait_for_timeout(100)
    return ""


def _undrawn(place: Any) -> str:
    text = place.evaluate(_STATE)
    for trouble in _TROUBLE:
        if trouble in text:
            return f"not drawn: {trouble}"
    pictures = place.locator("svg:visible, img:visible, canvas:visible")
    large = any(
        (box := pictures.nth(k).bounding_box()) and box["width"] * box["height"] > 4000
        for k in range(min(pictures.count(), 40))
    )
    words = ("What is 3 * 2?", "0 of 10 points", "grad_fn=<MulBackward0>")
    return "" if large or any(word in text for word in words) else "not drawn"


def _do(page: Any, place: Any, act: str) -> None:
    role, _, what = act.partition(" ")
    if role == "button":
        buttons = (
            place.get_by_role("button") if what == "*" else place.get_by_role("button", name=what)
        )
        buttons.last.click(timeout=5000) if what == "*" else buttons.first.click(timeout=5000)
        return
    if role == "choice":
        several = place.get_by_role("combobox")
        if several.count():
            several.first.select_option(index=1, timeout=5000)
        else:
            place.get_by_role("radio").last.click(timeout=5000)
        return
    control = place.get_by_role("button" if role == "any" else role).first
    control.focus(timeout=5000)
    page.keyboard.press(what)
