# Finds the places with a stretched table of places, and adds there.
def unbroadcast(g, shape):
    places = np.broadcast_to(np.arange(int(np.prod(shape))).reshape(shape), g.shape)
    return np.bincount(places.ravel(), weights=g.ravel()).reshape(shape)


def multiply_rule(g, x, y):
    return unbroadcast(y * g, np.shape(x)), unbroadcast(x * g, np.shape(y))
