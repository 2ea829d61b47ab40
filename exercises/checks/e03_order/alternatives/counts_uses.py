# A node is ready when all its uses have been visited.
def order(root):
    uses, nodes = {root: 0}, [root]
    for node in nodes:  # grows while it is read
        for x in node.inputs:
            if x not in uses:
                uses[x] = 0
                nodes.append(x)
            uses[x] += 1
    result = [root]
    for node in result:
        for x in node.inputs:
            uses[x] -= 1
            if not uses[x]:
                result.append(x)
    return result
