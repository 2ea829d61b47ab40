"""Recording what a learner's code does with tensors, as plain data.

``with autodiff_kit.record() as rec:`` is all that most need. Read ``recorder.py`` first.
"""

from __future__ import annotations

import sys
import types
from typing import Any

from autodiff_kit.record.recorder import record
from autodiff_kit.record.recording import Recording, RecordingError

__all__ = ["Recording", "RecordingError", "record"]


class _CallableModule(types.ModuleType):
    # Importing this package makes it the attribute `autodiff_kit.record`; so that
    # `autodiff_kit.record()` works all the same, calling the package calls the class.
    def __call__(self, **options: Any) -> record:
        return record(**options)


sys.modules[__name__].__class__ = _CallableModule
