# message: weights_exchanged
def final_state(sequence, w, u):
    h = 0.0
    for x in sequence:
        h = np.tanh(u * h + w * x)
    return h
