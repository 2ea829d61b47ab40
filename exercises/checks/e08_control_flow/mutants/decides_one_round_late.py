# message: decides_one_round_late
def rounds(x, n):
    y, seen = x, x.value
    for _ in range(n):
        before = y.value
        y = 0.5 * y if seen > 2 else y * x + 1.0
        seen = before
    return y
