# Takes each row as long as it is.
import math


def final_state(sequence, w, u):
    state = 0.0
    for i in range(len(sequence)):
        state = math.tanh(w * state + u * float(sequence[i]))
    return state


def final_states(padded, lengths, w, u):
    return np.array([final_state(row[:n], w, u) for row, n in zip(padded, lengths)])


def mean_loss(losses, lengths):
    total = count = 0
    for row, n in zip(losses, lengths):
        total, count = total + sum(row[:n]), count + n
    return total / count


def mean_loss_rule(g, losses, lengths):
    result = np.zeros_like(losses)
    for i, n in enumerate(lengths):
        result[i, :n] = g / sum(lengths)
    return result
