# message: edge_set
def edges(root):
    pairs, seen, waiting = set(), {root}, [root]
    while waiting:
        node = waiting.pop()
        for x in node.inputs:
            pairs.add((node, x))
            if x not in seen:
                seen.add(x)
                waiting.append(x)
    return list(pairs)
