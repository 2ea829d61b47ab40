# message: first_number_is_the_state
def final_state(sequence, w, u):
    h = sequence[0] if len(sequence) else 0.0
    for x in sequence[1:]:
        h = np.tanh(w * h + u * x)
    return h
