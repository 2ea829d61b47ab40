# message: both_must_require


class Node:
    """A number in the graph: a leaf, or the result of an operation."""

    def __init__(self, value, op="leaf", inputs=(), requires_grad=False):
        self.value = value
        self.op = op
        self.inputs = inputs
        self.requires_grad = requires_grad

    def __add__(self, other):
        other = as_node(other)
        needs = self.requires_grad and other.requires_grad
        return Node(self.value + other.value, "add", (self, other), needs)

    def __mul__(self, other):
        other = as_node(other)
        needs = self.requires_grad and other.requires_grad
        return Node(self.value * other.value, "mul", (self, other), needs)

    def __radd__(self, number):
        return as_node(number) + self

    def __rmul__(self, number):
        return as_node(number) * self
