"""The cell magic ``%%step``: run a cell and step through what it did.

After reading this file you know that the magic only records the cell and shows a ``Stepper``
below it. Read next: ``stepper.py``.
"""

from __future__ import annotations

from typing import Any

from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display

from autodiff_kit.record import record
from autodiff_kit.widgets.stepper import Stepper

__all__ = ["StepMagics", "load_ipython_extension"]


@magics_class
class StepMagics(Magics):
    """Holds ``%%step``."""

    @magic_arguments()  # type: ignore[untyped-decorator]
    @argument("name", nargs="?", help="a variable that keeps the recording")  # type: ignore[untyped-decorator]
    @cell_magic
    def step(self, line: str, cell: str) -> None:
        """Run the cell, record what its tensors do, and show it step by step.

        The cell runs as always: its variables are there afterwards, its last value is shown, and
        an error is an error. Below it stands the Stepper, up to the error if there was one.
        """
        name = parse_argstring(self.step, line).name
        if name is not None and not name.isidentifier():
            print(f"%%step {name}: this is not a name for a variable. Write for example %%step rec")
            return
        shell: Any = self.shell
        recorder = record()
        with recorder as recording:
            # run_cell shows the last value and the traceback, and returns instead of raising.
            result = shell.run_cell(cell, store_history=False)
            if result.error_in_exec is not None:
                recorder.failed(result.error_in_exec)
        if result.error_before_exec is not None:
            return  # a syntax error: IPython has shown it, and nothing ran
        if name is not None:
            shell.user_ns[name] = recording
        if recording.nodes:
            display(Stepper(recording))
        else:
            print(
                "Nothing was recorded: no tensor was made or used in this cell.\n"
                "Try: x = torch.tensor(2., requires_grad=True); y = x * x"
            )


def load_ipython_extension(ip: Any) -> None:
    """Register the magic; what ``%load_ext autodiff_kit`` calls."""
    ip.register_magics(StepMagics)
