"""Judges, fork servers and plain processes are copies of warm ones."""

import os
from collections.abc import Iterator

import pytest

from tests.grading import warm


@pytest.fixture(scope="session")
def _warm() -> Iterator[warm.Warm]:
    with warm.warm() as engine:
        yield engine


@pytest.fixture(autouse=True, scope="module")
def _copies(_warm: warm.Warm, request: pytest.FixtureRequest) -> Iterator[None]:
    """Let the grader's processes be copies of some that ran nothing; plain ones not for attacks."""
    modules = ["judging", "sandbox"] + ["worker"] * ("attacks" not in request.path.parts)
    with _warm.installed(*(modules if hasattr(os, "fork") else [])):
        yield


@pytest.fixture
def new_processes() -> Iterator[None]:
    """Start the grader's processes anew, for one test."""
    with warm.anew():
        yield
