# Keeps the gradients on the nodes, and takes them off again.


def backward(root):
    nodes = order(root)
    for node in nodes:
        node.gradient = 0.0
    root.gradient = 1.0
    for node in nodes:
        if node.inputs:
            contributions = node.rule(node.gradient)
            for i in range(len(node.inputs)):
                node.inputs[i].gradient = node.inputs[i].gradient + contributions[i]
    for node in nodes:
        if len(node.inputs) == 0 and node.requires_grad:
            if node.grad is None:
                node.grad = 0.0
            node.grad = node.grad + node.gradient
        del node.gradient
