"""What lesson 07 says of TensorFlow, as a program: `python -m tests.lessons.tensorflow_said`.

TensorFlow is no dependency of the tests, so they do not run this. Where it is installed, each line
below is checked; it was run by hand with TensorFlow 2.21.0.
"""

from __future__ import annotations

import importlib
from typing import Any


def main() -> None:
    """Check each statement of the lesson, and say with which version."""
    tf: Any = importlib.import_module("tensorflow")
    traces = []

    def size(x: Any) -> Any:
        traces.append(x)
        if x > 0:
            return x * x
        return -x

    three, minus_three = tf.constant(3.0), tf.constant(-3.0)

    # TensorFlow 2 runs line by line: the function runs at each call.
    assert tf.executing_eagerly()
    assert [float(size(x)) for x in (three, minus_three)] == [9.0, 3.0] and len(traces) == 2

    # Under `tf.function` it is traced once, and its `if` is an operation of the graph.
    traces.clear()
    static = tf.function(size)
    assert [float(static(x)) for x in (three, minus_three)] == [9.0, 3.0] and len(traces) == 1
    graph = static.get_concrete_function(tf.TensorSpec([], tf.float32)).graph
    assert "StatelessIf" in {operation.type for operation in graph.get_operations()}

    # The same can be written as an operation with two branches.
    assert float(tf.cond(minus_three > 0, lambda: 1.0, lambda: 2.0)) == 2.0

    # As TensorFlow 1 had it: a graph comes first, and has no value before a session runs it.
    with tf.Graph().as_default():
        product = tf.constant(2.0) * 3.0
        assert not hasattr(product, "_numpy")
        with tf.compat.v1.Session() as session:
            assert session.run(product) == 6.0
    print("TensorFlow", tf.__version__, "does what lesson 07 says.")


if __name__ == "__main__":
    main()
