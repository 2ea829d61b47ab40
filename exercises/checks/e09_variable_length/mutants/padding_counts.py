# message: padding_counts
def mean_loss(losses, lengths):
    return losses.mean()
