# message: inner_nodes_remember


def backward(root):
    root.grad = 1.0
    for node in order(root):
        if node.inputs:
            for x, contribution in zip(node.inputs, node.rule(node.grad), strict=True):
                if x.inputs or x.requires_grad:
                    x.grad = contribution if x.grad is None else x.grad + contribution
