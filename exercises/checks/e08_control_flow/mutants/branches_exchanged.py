# message: branches_exchanged
def rounds(x, n):
    y = x
    for _ in range(n):
        y = 0.5 * y if y.value <= 2 else y * x + 1.0
    return y
