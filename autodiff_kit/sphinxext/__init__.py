"""A directive for Sphinx and MyST: code that is run when documentation is built, stepped through.

In ``conf.py``::

    extensions = ["autodiff_kit.sphinxext"]

and in a document::

    .. autodiff-step::
       :caption: Two paths lead from x to y, so two gradients add up.

       x = torch.tensor(3.0, requires_grad=True)
       y = x * x + x
       y.backward()

After reading you can say which file does what: ``running.py`` runs and records the code,
``directive.py`` makes nodes of it, ``output.py`` writes these as HTML or, where nothing can be
stepped through, as a picture or in words. Read next: ``directive.py``.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

__all__ = ["setup"]


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directive, and what writes it; Sphinx calls this."""
    import autodiff_kit
    from autodiff_kit.sphinxext.directive import LIBRARIES, AutodiffStep
    from autodiff_kit.sphinxext.output import add_output
    from autodiff_kit.view.embed import embed_script

    app.add_config_value("autodiff_step_library", LIBRARIES[0], "env", types=frozenset({str}))
    app.add_directive("autodiff-step", AutodiffStep)
    add_output(app)
    # What was read with another viewer is read anew: pages and the script must fit.
    own = sha256((autodiff_kit.__version__ + embed_script()).encode()).digest()
    return {
        "version": autodiff_kit.__version__,
        "env_version": int.from_bytes(own[:4]),
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
