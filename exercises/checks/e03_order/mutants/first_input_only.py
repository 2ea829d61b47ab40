# message: first_input_only
def order(root):
    result, node = [root], root
    while node.inputs:
        node = node.inputs[0]
        result.append(node)
    return result
