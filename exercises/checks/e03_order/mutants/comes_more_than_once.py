# message: comes_more_than_once
def order(root):
    result, waiting = [], [(root, False)]
    while waiting:
        node, inputs_are_done = waiting.pop()
        if inputs_are_done:
            result.append(node)
        else:
            waiting.append((node, True))
            waiting.extend((x, False) for x in node.inputs)
    return result[::-1]
