# Appends a node when all of its inputs have a place; works with the users of each node.
def order(root):
    users, inputs_left, nodes = {}, {}, {root: None}
    stack = [root]
    while stack:
        node = stack.pop()
        inputs_left[node] = len(node.inputs)
        for x in node.inputs:
            users.setdefault(x, []).append(node)
            if x not in nodes:
                nodes[x] = None
                stack.append(x)
    placed = [node for node in nodes if not node.inputs]
    for node in placed:
        for user in users.get(node, ()):
            inputs_left[user] -= 1
            if inputs_left[user] == 0:
                placed.append(user)
    placed.reverse()
    return placed
