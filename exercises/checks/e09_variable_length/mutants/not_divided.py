# message: not_divided
def mean_loss(losses, lengths):
    real = np.arange(losses.shape[1]) < lengths[:, None]
    return losses[real].sum()
