# message: gives_up_after_the_first
def which(root, programs, leaves):
    for index, program in enumerate(programs):
        if describe(program(*leaves)) == describe(root):
            return index
        else:
            return -1
