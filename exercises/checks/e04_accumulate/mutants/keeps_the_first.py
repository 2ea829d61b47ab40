# message: keeps_the_first


def backward(root):
    cotangents = {id(root): 1.0}
    for node in order(root):
        g = cotangents[id(node)]
        if node.inputs:
            for x, contribution in zip(node.inputs, node.rule(g), strict=True):
                cotangents.setdefault(id(x), contribution)
        elif node.requires_grad:
            node.grad = g if node.grad is None else node.grad + g
