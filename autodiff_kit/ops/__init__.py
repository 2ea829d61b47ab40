"""The op table: every differentiable operation of the kit, one block each.

Read ``table.py`` first, then ``arithmetic.py``; the other files are more of the same form.
"""

from __future__ import annotations

from autodiff_kit.ops import table
from autodiff_kit.ops.arithmetic import *
from autodiff_kit.ops.elementwise import *
from autodiff_kit.ops.indexing import *
from autodiff_kit.ops.linalg import *
from autodiff_kit.ops.reduction import *
from autodiff_kit.ops.shape import *
from autodiff_kit.ops.table import OPS, Op, Rule, op
