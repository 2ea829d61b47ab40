# One helper makes all results, and one walk serves both questions.
def made(op, value, left, right):
    return Node(value, op, (left, right), any(x.requires_grad for x in (left, right)))


class Node:
    def __init__(self, value, op="leaf", inputs=(), requires_grad=False, saved=()):
        if inputs and not mode.on:
            op, inputs, requires_grad, saved = "leaf", (), False, ()
        self.value, self.op, self.inputs, self.requires_grad = value, op, inputs, requires_grad
        self.saved, self.grad = saved, None

    def __add__(self, other):
        other = as_node(other)
        return made("add", self.value + other.value, self, other)

    def __mul__(self, other):
        other = as_node(other)
        return made("mul", self.value * other.value, self, other)

    def __radd__(self, number):
        return Node(number).__add__(self)

    def __rmul__(self, number):
        return Node(number).__mul__(self)


def walk(root):
    nodes = [root]
    for node in nodes:  # grows while it is read
        nodes.extend({id(x): x for x in node.inputs if not any(x is n for n in nodes)}.values())
    return nodes


def edges(root):
    return [(node, x) for node in walk(root) for x in node.inputs]


def leaves(root):
    return [node for node in walk(root) if node.op == "leaf" and node.requires_grad]
