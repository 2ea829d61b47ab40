# message: waits_for_the_same_node
def which(root, programs, leaves):
    for index, program in enumerate(programs):
        if program(*leaves) == root:
            return index
