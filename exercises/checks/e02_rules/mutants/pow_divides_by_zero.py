# message: pow_divides_by_zero


def pow_rule(g, x, n):
    return g * n * np.power(x, n) / np.where(x == 0, np.nan, x)
