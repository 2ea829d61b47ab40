# message: asks_whether_grad_is_true


def backward(root):
    cotangents = {id(root): 1.0}
    for node in order(root):
        g = cotangents[id(node)]
        if node.inputs:
            for x, contribution in zip(node.inputs, node.rule(g), strict=True):
                before = cotangents.get(id(x))
                cotangents[id(x)] = contribution if before is None else before + contribution
        elif node.requires_grad:
            if node.grad:
                node.grad = node.grad + g
            else:
                node.grad = g
