"""Grades as results hold them, made by hand."""

from autodiff_kit.grading.results import Attempt, Grade, Mark

TITLES = {"e01_double": ("01.double Double", 3.0), "e02_triple": ("02.triple Triple", 5.0)}


def graded(
    student: str, exercise: str, *points: float, name: str = "", status: str = "graded"
) -> Grade:
    marks = tuple(
        Mark(f"step{i}", p, 2.0, "right" if p == 2 else "wrong", "" if p == 2 else "msg", name)
        for i, p in enumerate(points)
    )
    attempt = Attempt(
        "key" + student,
        student,
        name,
        exercise,
        1,
        student,
        "h",
        "c",
        "1",
        "2 sandboxed",
        status,
        marks,
    )
    return Grade(student, name or student, exercise, marks, attempt, 1)
