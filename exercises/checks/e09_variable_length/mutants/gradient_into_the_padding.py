# message: gradient_into_the_padding
def mean_loss_rule(g, losses, lengths):
    return np.full(losses.shape, g / lengths.sum())
