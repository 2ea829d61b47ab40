# Puts zeros into the padding first, and works with a mask of numbers.
def final_state(sequence, w, u):
    from functools import reduce

    return reduce(lambda h, x: np.tanh(h * w + x * u), sequence, 0.0)


def mask_of(table, lengths):
    return (np.arange(table.shape[1])[None, :] < lengths.reshape(-1, 1)).astype(float)


def final_states(padded, lengths, w, u):
    mask = mask_of(padded, lengths)
    h = np.zeros(padded.shape[0])
    for x, m in zip(padded.T, mask.T):
        h = m * np.tanh(w * h + u * x) + (1 - m) * h
    return h


def mean_loss(losses, lengths):
    mask = mask_of(losses, lengths)
    return np.where(mask > 0, losses, 0).sum() / mask.sum()


def mean_loss_rule(g, losses, lengths):
    mask = mask_of(losses, lengths)
    return g * mask / mask.sum()
