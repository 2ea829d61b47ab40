"""Pictures of recordings: laid out, stepped through, drawn, written and told; without Jupyter.

After reading you know the way in: ``build(recording)`` gives a ``Picture``, and everything else
shows one. Works from the plain data of a recording alone. Read next: ``scene.py``.
"""

from autodiff_kit.view.page import to_html
from autodiff_kit.view.scene import Picture, build
from autodiff_kit.view.svg import base_svg, still_svg
from autodiff_kit.view.text import to_text

__all__ = ["Picture", "base_svg", "build", "still_svg", "to_html", "to_text"]
