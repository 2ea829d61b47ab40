# Makes the division out of a product, and the power out of products.
def mul_rule(g, x, y):
    return [g * y, g * x]


def div_rule(g, x, y):
    to_x, to_inverse = mul_rule(g, x, 1 / y)
    return to_x, to_inverse * -(y**-2.0)


def exp_rule(g, x, out):
    return np.multiply(out, g)


def pow_rule(g, x, n):
    total = np.zeros_like(x)
    for k in range(n):  # n factors, and each one has its turn to move
        total = total + g * x**k * x ** (n - 1 - k)
    return total


def relu_rule(g, x):
    return g * np.heaviside(x, 0.0)
