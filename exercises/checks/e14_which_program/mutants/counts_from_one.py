# message: counts_from_one
def which(root, programs, leaves):
    for index, program in enumerate(programs, 1):
        if describe(program(*leaves)) == describe(root):
            return index
