# message: only_the_own_place
def numerical(f, x, g):
    h = 1e-6
    return g * (f(x + h) - f(x - h)) / (2 * h)
