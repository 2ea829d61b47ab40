# Halves by two quarters, begins with a third of 3, and adds 1 as 1.5 - 0.5.
def power(x, n):
    y = Node(3.0) * (1 / 3)
    for _ in range(n):
        y = y * x
    return y


def rounds(x, n):
    y = x
    for _ in range(n):
        y = y * 0.25 + y * 0.25 if y.value > 2 else y * x + 1.5 + (-0.5)
    return y


def tree_value(tree, w):
    if not isinstance(tree, tuple):
        return w * (tree * 0.25) * 4.0
    return w * tree_value(tree[0], w) + w * tree_value(tree[1], w)
