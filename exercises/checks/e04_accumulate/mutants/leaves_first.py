# message: leaves_first


def backward(root):
    cotangents = {id(root): 1.0}
    for node in reversed(order(root)):
        g = cotangents.get(id(node), 0.0)
        if node.inputs:
            for x, contribution in zip(node.inputs, node.rule(g), strict=True):
                before = cotangents.get(id(x))
                cotangents[id(x)] = contribution if before is None else before + contribution
        elif node.requires_grad:
            node.grad = g if node.grad is None else node.grad + g
