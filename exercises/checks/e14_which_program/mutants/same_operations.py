# message: same_operations
def which(root, programs, leaves):
    wanted = sorted(node.op for node in nodes_behind(root))
    for index, program in enumerate(programs):
        if sorted(node.op for node in nodes_behind(program(*leaves))) == wanted:
            return index
