# message: begins_with_the_value


def backward(root):
    cotangents = {id(root): root.value}
    for node in order(root):
        g = cotangents[id(node)]
        if node.inputs:
            for x, contribution in zip(node.inputs, node.rule(g), strict=True):
                before = cotangents.get(id(x))
                cotangents[id(x)] = contribution if before is None else before + contribution
        elif node.requires_grad:
            node.grad = g if node.grad is None else node.grad + g
