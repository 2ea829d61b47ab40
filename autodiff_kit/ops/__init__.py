"""The op table: every differentiable operation of the kit, one block each.

Read ``table.py`` first, then ``arithmetic.py``; the other files are more of the same form.
"""

# ruff: noqa: F403

from __future__ import annotations

from autodiff_kit.ops.arithmetic import *
from autodiff_kit.ops.elementwise import *
from autodiff_kit.ops.indexing import *
from autodiff_kit.ops.linalg import *
from autodiff_kit.ops.powers import *
from autodiff_kit.ops.reduction import *
from autodiff_kit.ops.rounding import *
from autodiff_kit.ops.shape import *
from autodiff_kit.ops.table import OPS as OPS
from autodiff_kit.ops.table import Op as Op
from autodiff_kit.ops.table import Rule as Rule
from autodiff_kit.ops.table import op as op
