# message: cotangent_still_in_place


def add_gradients(root):
    cotangents = {root: np.ones_like(root.value)}
    for node in order(root):
        g = cotangents[node]
        if not node.inputs and node.grad is None:
            node.grad = g
        elif not node.inputs:
            node.grad = node.grad + g
        for x, rule in zip(node.inputs, node.rules, strict=True):
            contribution = rule(g)
            if x in cotangents:
                cotangents[x] += contribution
            else:
                cotangents[x] = contribution
