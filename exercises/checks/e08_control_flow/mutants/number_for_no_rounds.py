# message: number_for_no_rounds
def power(x, n):
    y = 1.0
    for _ in range(n):
        y = y * x
    return y
