# message: first_come_first_listed
def order(root):
    seen, result, waiting = set(), [], [root]
    while waiting:
        node = waiting.pop()
        if id(node) not in seen:
            seen.add(id(node))
            result.append(node)
            waiting.extend(reversed(node.inputs))
    return result
