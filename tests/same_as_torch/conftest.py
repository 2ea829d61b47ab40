"""The learners' programs are run by ``test_learners_programs.py``, not imported as tests."""

collect_ignore = ["learners"]
