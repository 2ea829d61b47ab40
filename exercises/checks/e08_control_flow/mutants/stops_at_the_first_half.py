# message: stops_at_the_first_half
def rounds(x, n):
    y = x
    for _ in range(n):
        if y.value > 2:
            return 0.5 * y
        y = y * x + 1.0
    return y
