"""Dictionaries whose keys the kit does not choose: an alias says who does.

After reading this file you know why a signature has one of these names and not a class. Where the
kit itself chooses the keys, a ``TypedDict`` or a ``NamedTuple`` says which there are, as those of
a recording in ``record/events.py``. Each dictionary of anything has an alias, here or near its use.
"""

from __future__ import annotations

from typing import Any

__all__ = ["Bundle", "Group", "Json", "Keywords", "Namespace", "StateDict"]

Bundle = dict[str, Any]  # what a notebook shows, by its MIME type
Group = dict[str, Any]  # parameters, and their options by the names of an optimizer's class
Json = dict[str, Any]  # an object of a JSON file, such as a notebook, as its format has it
Keywords = dict[str, Any]  # the arguments of a call by their names, as in ``**kwargs``
Namespace = dict[str, Any]  # what the names in a program, a module or an object stand for
StateDict = dict[str, Any]  # what ``state_dict()`` returns, as PyTorch's classes have it
