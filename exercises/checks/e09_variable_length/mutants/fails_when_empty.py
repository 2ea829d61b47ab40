# message: fails_when_empty
def final_state(sequence, w, u):
    h = np.tanh(u * sequence[0])
    for x in sequence[1:]:
        h = np.tanh(w * h + u * x)
    return h
