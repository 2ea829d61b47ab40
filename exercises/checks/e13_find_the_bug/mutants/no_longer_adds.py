# message: no_longer_adds


def add_gradients(root):
    cotangents = {root: np.ones_like(root.value)}
    for node in order(root):
        g = cotangents[node]
        if not node.inputs:
            node.grad = g
        for x, rule in zip(node.inputs, node.rules, strict=True):
            cotangents[x] = rule(g)
