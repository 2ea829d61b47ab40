# message: compares_values
def which(root, programs, leaves):
    for index, program in enumerate(programs):
        if program(*leaves).value == root.value:
            return index
