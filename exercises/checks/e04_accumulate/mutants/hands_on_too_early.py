# message: hands_on_too_early


def backward(root):
    cotangents = {id(root): 1.0}
    line, seen = [root], {id(root)}
    while line:
        node = line.pop(0)
        g = cotangents[id(node)]
        for x, contribution in zip(node.inputs, node.rule(g) if node.inputs else (), strict=True):
            before = cotangents.get(id(x))
            cotangents[id(x)] = contribution if before is None else before + contribution
            if id(x) not in seen:
                seen.add(id(x))
                line.append(x)
    for node in order(root):
        if not node.inputs and node.requires_grad:
            g = cotangents[id(node)]
            node.grad = g if node.grad is None else node.grad + g
