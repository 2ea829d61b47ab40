"""What stands in a notebook for a widget that is not there: ready beside it, and hidden by it.

After reading you can say why a notebook opened again shows its pictures and questions, and not
"Error displaying widget": they are outputs of their own, ahead of the widgets'.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

__all__ = ["outputs", "stand_in", "with_stills"]

Shown = dict[str, Any]  # by MIME types, which are the reader's
Output = tuple[Shown, Shown]  # what a notebook shows, and its metadata


def stand_in(content: str, note: str = "") -> str:
    """Return HTML with a style sheet by which JupyterLab shows it where the next output is dead.

    JupyterLab saves a notebook without its widgets unless told otherwise. Opened again, it says
    that the widget is missing and passes over what is stored beside it; an output of its own,
    ahead of the widget's, is read all the same. Where the widget is alive, and outside Jupyter,
    these rules hide it, and it takes no room. In a notebook that JupyterLab does not trust yet
    there are no style sheets: the content is shown there, unless it is hidden by itself.

    Parameters
    ----------
    content : str
        One HTML element.
    note : str
        Words below it.
    """
    mark = f"adk-{sha256(content.encode()).hexdigest()[:12]}"
    after = f'\n    .jp-OutputArea-output::after {{ content: "{note}"; }}' if note else ""
    # A widget that was given up is words in a node, and no element; in a page exported from
    # Jupyter it is scripts, until the page has fetched what shows it.
    return f"""<style class="{mark}">
style.{mark} + * {{ display: none; }}
.jp-OutputArea-child:has(style.{mark}) {{
  &:not(:has(+ * > .jupyter-widgets)), &:has(+ * > .jupyter-widgets > :not(script)) {{
    display: none;
  }}
  &:has(+ * > .jupyter-widgets):not(:has(+ * > .jupyter-widgets > :not(script))) {{
    style + * {{ display: block !important; max-width: 100%; height: auto; color-scheme: light; }}
    [data-jp-theme-light="false"] & style + * {{ color-scheme: dark; }}
    + * {{ display: none; }}{after}
  }}
}}
</style>{content}"""


def with_stills(bundle: Any, stills: Shown) -> Output | None:
    """Add to what a widget sends as an output the still forms of it, by their types.

    nbval compares these, and pages without Python show them. None stays None: no view, no output.
    """
    if bundle is None:
        return None
    data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
    return {**data, **stills}, metadata


def outputs(words: str, bundle: Output | None) -> list[Output]:
    """Return all that a cell shows of a widget: what stands for it, then the widget itself.

    Parameters
    ----------
    words : str
        HTML of ``stand_in``, or nothing.
    bundle : (data, metadata), optional
        What ``with_stills`` returned.
    """
    standing: list[Output] = [({"text/html": words}, {})] if words else []
    return standing if bundle is None else [*standing, bundle]
