# message: first_with_that_root
def which(root, programs, leaves):
    for index, program in enumerate(programs):
        if program(*leaves).op == root.op:
            return index
