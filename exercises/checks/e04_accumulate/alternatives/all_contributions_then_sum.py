# Collects all contributions of a node, and sums them when it is visited.

from collections import defaultdict


def backward(root):
    arrived = defaultdict(list)
    arrived[root].append(1.0)
    for node in order(root):
        total = sum(arrived.pop(node))
        if node.inputs:
            for source, contribution in zip(node.inputs, node.rule(total), strict=True):
                arrived[source].append(contribution)
        elif node.requires_grad:
            node.grad = total + (0 if node.grad is None else node.grad)
