# message: sorted_by_name
def order(root):
    seen, waiting = {id(root): root}, [root]
    while waiting:
        for x in waiting.pop().inputs:
            if id(x) not in seen:
                seen[id(x)] = x
                waiting.append(x)
    return sorted(seen.values(), key=lambda node: node.name, reverse=True)
