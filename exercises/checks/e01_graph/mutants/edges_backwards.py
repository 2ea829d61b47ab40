# message: edges_backwards
def edges(root):
    pairs, seen, waiting = [], {id(root)}, [root]
    while waiting:
        node = waiting.pop()
        for x in node.inputs:
            pairs.append((x, node))
            if id(x) not in seen:
                seen.add(id(x))
                waiting.append(x)
    return pairs
