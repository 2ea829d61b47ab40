# Writes the sums with their indices.
def matmul_rule(g, a, b):
    return np.einsum("ij,kj->ik", g, b), np.einsum("ij,ik->kj", g, a)


def batch_rule(g, a, b):
    to_a = np.einsum("...ij,...kj->...ik", g, b)
    to_b = np.einsum("...ij,...ik->...kj", g, a)
    return unbroadcast(to_a, a.shape), unbroadcast(to_b, b.shape)
