# message: adds_twice


def backward(root):
    cotangents = {id(root): 1.0}
    for node in order(root):
        g = cotangents[id(node)]
        if node.inputs:
            for x, contribution in zip(node.inputs, node.rule(g), strict=True):
                before = cotangents.get(id(x))
                cotangents[id(x)] = contribution if before is None else before + contribution
                if x.requires_grad and not x.inputs:
                    x.grad = contribution if x.grad is None else x.grad + contribution
        elif node.requires_grad:
            node.grad = g if node.grad is None else node.grad + g
