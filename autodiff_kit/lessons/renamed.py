"""What the lessons and questions of the first edition are called in the second.

The second edition has three lessons more, so most numbers changed. After reading you know what an
old question is called today, and why no answer that was kept is lost: ``progress.py`` reads it
under its new key. Read next: ``progress.py``.
"""

from __future__ import annotations

from autodiff_kit.free_form import Json

__all__ = ["LESSONS", "QUESTIONS", "renamed"]

# Notebooks, without their ending: first edition -> second. The others have kept their names.
LESSONS = {
    "04_control_flow": "05_control_flow",
    "05_no_grad": "06_grad_modes",
    "06_static_and_dynamic": "07_static_and_dynamic",
    "07_variable_length": "08_variable_length",
    "08_memory": "09_what_is_saved",
    "09_debugging": "11_debugging",
    "10_building_and_training": "12_building_and_training",
    "11_errors": "13_errors",
    "12_gradients_of_gradients": "14_gradients_of_gradients",
    "13_from_here_to_pytorch": "16_map_of_pytorch",
}

_MOVED = {  # from lesson, to lesson: the questions and performances
    ("04", "05"): "loop while jump many task engine",
    ("05", "06"): "inside memory speed silent detach task engine",
    ("06", "07"): "branch loop calls faster task",
    ("07", "08"): "nodes cells mean shrinks task",
    ("08", "09"): "who when task engine",
    ("08", "10"): "holds checkpoint",
    ("09", "11"): "first grad hook alter task",
    ("10", "12"): "start deep slopes race task",
    ("11", "13"): "cut twice changed leaf result task engine",
    ("12", "14"): "rule check second without task",
    ("13", "16"): "change train error graph task",
}

# Questions and performances, by key: first edition -> second.
QUESTIONS = {
    f"{old}.{name}": f"{new}.{name}"
    for (old, new), names in _MOVED.items()
    for name in names.split()
}


def renamed(entries: Json) -> Json:
    """Return entries of a progress file of the first edition under the keys of the second.

    Parameters
    ----------
    entries : dict
        By key; keys that were not renamed, and a learner's own, stay.

    Returns
    -------
    dict
    """
    return {QUESTIONS.get(key, key): entry for key, entry in entries.items()}
