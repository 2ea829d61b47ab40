# message: users_counted_instead_of_uses
def order(root):
    users, nodes = {id(root): 0}, [root]
    for node in nodes:
        for x in node.inputs:
            if id(x) not in users:
                users[id(x)] = 0
                nodes.append(x)
            users[id(x)] += 1
    result, ready = [], [root]
    while ready:
        node = ready.pop()
        result.append(node)
        for x in {id(x): x for x in node.inputs}.values():
            users[id(x)] -= 1
            if users[id(x)] == 0:
                ready.append(x)
    return result
