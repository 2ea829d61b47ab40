"""The differential fuzzer: random programs, run by the kit and by PyTorch 2.13.0.

A program is five to fifteen lines that a learner might write. ``writing.py`` writes them from a
seed, looking at the tensors that PyTorch has made so far: one seed is one program for ever.
``running.py`` runs each line with both packages and compares what every line leaves behind:
exceptions (class, first line), values, gradients, dtypes, shapes, strides, ``requires_grad``,
``is_leaf``, names of ``grad_fn`` and of whole graphs, versions, texts, and what hooks have noted.
``shrinking.py`` makes a failing program small. ``known.py`` is the one place that lists what
differs on purpose, and why.

    python -m tests.fuzz --programs 200000 --seed 1 --processes 2
    python -m tests.fuzz --programs 5000 --flavour views --kinds value,gradient,accepted
    python -m tests.fuzz --programs 5000 --flavour wide

prints the smallest program for each cause, a table of counts by kind, and the share of checks that
agree. ``test_fuzz.py`` runs the first programs in the gate.

Kinds of differences: ``value``, ``gradient``, ``dtype``, ``shape``, ``requires_grad``, ``is_leaf``,
``accepted`` (PyTorch refuses), ``refused`` (PyTorch accepts), ``class`` (of the exception); a
program ends at one of these. After ``message``, ``grad_fn``, ``graph``, ``version``, ``strides``,
``base`` and ``repr`` it goes on.
"""
