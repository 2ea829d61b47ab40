# message: root_left_out
def order(root):
    done, result, waiting = set(), [], [(root, False)]
    while waiting:
        node, inputs_are_done = waiting.pop()
        if inputs_are_done:
            result.append(node)
        elif id(node) not in done:
            done.add(id(node))
            waiting.append((node, True))
            waiting.extend((x, False) for x in node.inputs)
    return result[:-1][::-1]
