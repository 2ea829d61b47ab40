# message: branch_of_a_plain_number
def rounds(x, n):
    y = x
    for _ in range(n):
        y = 0.5 * y if y.value > 2 else y * x.value + 1.0
    return y
