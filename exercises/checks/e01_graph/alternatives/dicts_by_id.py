# Collects all nodes in a dict first; the edges are a generator made a tuple.
def _all(root, known=None):
    known = {} if known is None else known
    if id(root) not in known:
        known[id(root)] = root
        for x in root.inputs:
            _all(x, known)
    return known


def edges(root):
    return tuple((node, x) for node in _all(root).values() for x in node.inputs)


def leaves(root):
    return [n for n in _all(root).values() if len(n.inputs) == 0 if n.requires_grad is True]
