# Keeps all states and picks the one at each end; averages real numbers put side by side.
def final_state(sequence, w, u):
    states = [0.0]
    for x in sequence:
        states.append(np.tanh(u * x + w * states[-1]))
    return states[-1]


def final_states(padded, lengths, w, u):
    states = [np.zeros(len(padded))]
    for column in padded.transpose():
        states.append(np.tanh(u * column + w * states[-1]))
    return np.stack(states)[lengths, np.arange(len(padded))]


def mean_loss(losses, lengths):
    return np.mean(np.concatenate([row[:n] for row, n in zip(losses, lengths)]))


def mean_loss_rule(g, losses, lengths):
    rows = [[g / lengths.sum()] * n + [0.0] * (losses.shape[1] - n) for n in lengths]
    return np.array(rows, dtype=float)
