# message: constants_instead_of_leaves
def leaves(root):
    found, seen, waiting = [], {id(root)}, [root]
    while waiting:
        node = waiting.pop()
        if not node.inputs and not node.requires_grad:
            found.append(node)
        for x in node.inputs:
            if id(x) not in seen:
                seen.add(id(x))
                waiting.append(x)
    return found
