# Needs no order: a node is visited when as many contributions have come as it has uses.


def backward(root):
    uses, nodes, stack = {}, {}, [root]
    while stack:
        node = stack.pop()
        if id(node) in nodes:
            continue
        nodes[id(node)] = node
        for x in node.inputs:
            uses[id(x)] = uses.get(id(x), 0) + 1
            stack.append(x)
    total = {key: 0.0 for key in nodes}
    total[id(root)] = 1.0
    ready = [root]
    while ready:
        node = ready.pop()
        if not node.inputs and node.requires_grad:
            node.grad = total[id(node)] if node.grad is None else node.grad + total[id(node)]
        contributions = node.rule(total[id(node)]) if node.inputs else ()
        for x, contribution in zip(node.inputs, contributions, strict=True):
            total[id(x)] = total[id(x)] + contribution
            uses[id(x)] -= 1
            if uses[id(x)] == 0:
                ready.append(x)
