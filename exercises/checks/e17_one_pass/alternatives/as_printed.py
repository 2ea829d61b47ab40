# Right: a value may be written as PyTorch prints it.


def performance(question):
    """Answer one question after the other: your own answers are written here."""
    nodes = {node["id"]: node for node in question["nodes"]}
    arrived = question["arrived"][-1] if question["arrived"] else {}
    gradients = {question["root"]: 1.0}
    gradients |= {box: sum(parts) for box, parts in arrived.items()}
    if question["about"] == "begin":
        return question["root"]
    if question["about"] == "seed":
        return "1."
    if question["about"] == "next":
        waiting = [box for box in question["complete"] if box not in question["visited"]]
        return waiting[-1]
    node = nodes[question["node"]]
    inputs = [box for box in node["inputs"] if nodes[box]["grad"]]
    if question["about"] == "targets":
        return list(dict.fromkeys(inputs))
    if question["about"] == "count":
        return str(len(inputs))
    g = gradients[question["node"]]
    if question["about"] == "sum":
        return g
    if node["op"] == "mul":
        other = node["inputs"][1 - question["place"]]
        return f"tensor({g * nodes[other]['value']})"
    return g
