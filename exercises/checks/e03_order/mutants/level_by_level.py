# message: level_by_level
def order(root):
    seen, result = {id(root)}, [root]
    for node in result:
        for x in node.inputs:
            if id(x) not in seen:
                seen.add(id(x))
                result.append(x)
    return result
