# message: pow_slope_of_the_exponent


def pow_rule(g, x, n):
    return g * x**n * np.log(np.abs(x) + (x == 0))
