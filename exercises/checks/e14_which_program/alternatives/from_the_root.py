# Numbers count from the root; `which` walks both graphs side by side; lines wait for their inputs.
def describe(root):
    number, nodes = {root: 0}, [root]
    for node in nodes:
        for x in node.inputs:
            if x not in number:
                number[x] = len(nodes)
                nodes.append(x)
    return {
        number[node]: (node.op, node.name, tuple(number[x] for x in node.inputs)) for node in nodes
    }


def which(root, programs, leaves):
    def fits(other):
        partner, partners, waiting = {}, set(), [(root, other)]
        while waiting:
            a, b = waiting.pop()
            if a in partner:
                if partner[a] is not b:
                    return False
                continue
            if b in partners or (a.op, a.name) != (b.op, b.name):
                return False
            partner[a] = b
            partners.add(b)
            waiting += zip(a.inputs, b.inputs)
        return True

    return max(range(len(programs)), key=lambda index: fits(programs[index](*leaves)))


def write_down(root):
    users, open_inputs, nodes = {}, {}, [root]
    for node in nodes:
        open_inputs[node] = len(node.inputs)
        for x in node.inputs:
            if x not in users:
                users[x] = []
                nodes.append(x)
            users[x].append(node)
    ready = [node for node in nodes if not node.inputs]
    names, lines = {}, []
    for node in ready:
        if node.inputs:
            names[node] = f"t{len(lines)}"
            left, right = node.inputs
            lines.append(f"{names[node]} = {names[left]} {node.op} {names[right]}")
        else:
            names[node] = node.name
        for user in users.get(node, ()):
            open_inputs[user] -= 1
            if open_inputs[user] == 0:
                ready.append(user)
    return lines
