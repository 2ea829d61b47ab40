# Computes a node by asking for its inputs first, each node once.
def is_greater(x, number):
    is_so = not x.value <= number
    guards.append((x, number, is_so))
    return is_so


def trace(function, values):
    del guards[:]
    inputs = list(map(lambda value: Node(value, requires_grad=True), values))
    return inputs, function(*inputs), guards.copy()


def recompute(root, done=None):
    done = set() if done is None else done
    if id(root) not in done and root.inputs:
        done.add(id(root))
        left, right = root.inputs
        recompute(left, done)
        recompute(right, done)
        root.value = left.value * right.value if root.op == "mul" else left.value + right.value


def replay(graph, values):
    inputs, root, notes = graph
    for x, value in zip(inputs, values, strict=True):
        x.value = value
    for node in [root, *(node for node, _, _ in notes)]:
        recompute(node)
    if any((node.value > number) is not answer for node, number, answer in notes):
        raise BranchChanged
    return root
