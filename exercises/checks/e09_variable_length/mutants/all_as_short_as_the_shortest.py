# message: all_as_short_as_the_shortest
def final_states(padded, lengths, w, u):
    h = np.zeros(len(padded))
    for time in range(lengths.min()):
        h = np.tanh(w * h + u * padded[:, time])
    return h
