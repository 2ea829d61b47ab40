# message: one_factor_too_many
def power(x, n):
    y = x
    for _ in range(n):
        y = y * x
    return y
