# message: seen_when_put_on_the_list
def order(root):
    seen, result, waiting = {id(root)}, [], [root]
    while waiting:
        node = waiting.pop()
        result.append(node)
        for x in node.inputs:
            if id(x) not in seen:
                seen.add(id(x))
                waiting.append(x)
    return result
