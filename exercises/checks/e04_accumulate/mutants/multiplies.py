# message: multiplies


def backward(root):
    cotangents = {id(root): 1.0}
    for node in order(root):
        g = cotangents[id(node)]
        if node.inputs:
            for x, contribution in zip(node.inputs, node.rule(g), strict=True):
                cotangents[id(x)] = cotangents.get(id(x), 1.0) * contribution
        elif node.requires_grad:
            node.grad = g if node.grad is None else node.grad + g
