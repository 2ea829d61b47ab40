# message: constants_too


def backward(root):
    cotangents = {id(root): 1.0}
    for node in order(root):
        g = cotangents[id(node)]
        if node.inputs:
            for x, contribution in zip(node.inputs, node.rule(g), strict=True):
                before = cotangents.get(id(x))
                cotangents[id(x)] = contribution if before is None else before + contribution
        else:
            node.grad = g if node.grad is None else node.grad + g
