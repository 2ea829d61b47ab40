# message: inner_nodes_are_leaves_too
def leaves(root):
    found, seen, waiting = [], {id(root)}, [root]
    while waiting:
        node = waiting.pop()
        if node.requires_grad:
            found.append(node)
        for x in node.inputs:
            if id(x) not in seen:
                seen.add(id(x))
                waiting.append(x)
    return found
