# Follows every path on its own: slow on large graphs, and right.


def backward(root, g=1.0):
    if not node_is_leaf(root):
        for source, contribution in zip(root.inputs, root.rule(g), strict=True):
            backward(source, contribution)
    elif root.requires_grad:
        root.grad = g if root.grad is None else root.grad + g


def node_is_leaf(node):
    return len(node.inputs) == 0
