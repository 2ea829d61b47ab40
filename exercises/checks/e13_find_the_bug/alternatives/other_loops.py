# Default values, recursion, and arrays of zeros to begin with.
def dot(xs, ws):
    rules = [lambda g, w=w: w * g for w in ws]
    value = 0.0
    for i in range(len(xs)):
        value = value + ws[i] * xs[i].value
    return Node(value, tuple(xs), tuple(rules))


def multiply(x, y):
    def rule_for_x(g, factor=y.value):
        return factor * g

    def rule_for_y(g, factor=x.value):
        return factor * g

    return Node(y.value * x.value, (x, y), (rule_for_x, rule_for_y))


def layers(x, bs):
    if len(bs) == 0:
        return x
    return layers(tanh(add(x, bs[0])), bs[1:])


def visit(node):
    nodes = []
    for x in node.inputs:
        nodes += [behind for behind in visit(x) if behind not in nodes]
    return [*nodes, node]


def add_gradients(root):
    nodes = order(root)
    gradients = {node: np.zeros_like(root.value) for node in nodes}
    gradients[root] += 1.0
    for node in nodes:
        for x, rule in zip(node.inputs, node.rules, strict=True):
            gradients[x] += rule(gradients[node])
        if not node.inputs:
            before = 0.0 if node.grad is None else node.grad
            node.grad = before + gradients[node]
