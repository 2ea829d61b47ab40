# Visits by recursion; a function inside remembers what was seen.
class Node:
    def __init__(self, value, op="leaf", inputs=(), requires_grad=False, saved=()):
        self.value = value
        self.op = op if mode.on else "leaf"
        self.inputs = inputs if mode.on else ()
        self.requires_grad = requires_grad and (mode.on or not inputs)
        self.saved = saved if mode.on else ()
        self.grad = None

    def _with(self, other, op, first=False):
        if not isinstance(other, Node):
            other = Node(other)
        a, b = (other, self) if first else (self, other)
        value = a.value + b.value if op == "add" else a.value * b.value
        return Node(value, op, (a, b), bool(a.requires_grad + b.requires_grad))

    def __add__(self, other):
        return self._with(other, "add")

    def __mul__(self, other):
        return self._with(other, "mul")

    def __radd__(self, number):
        return self._with(number, "add", first=True)

    def __rmul__(self, number):
        return self._with(number, "mul", first=True)


def edges(root):
    known_nodes, pairs = set(), []

    def visit(node):
        if node in known_nodes:
            return
        known_nodes.add(node)
        for x in node.inputs:
            pairs.append((node, x))
            visit(x)

    visit(root)
    return pairs


def leaves(root):
    return list({x for _, x in [(None, root), *edges(root)] if not x.inputs and x.requires_grad})
