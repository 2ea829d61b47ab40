# message: gradient_by_row
def mean_loss_rule(g, losses, lengths):
    real = np.arange(losses.shape[1]) < lengths[:, None]
    return np.where(real, g / lengths[:, None] / len(lengths), 0.0)
