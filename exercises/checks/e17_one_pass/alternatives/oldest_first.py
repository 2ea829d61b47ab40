# Right: any node whose contributions are all there may be next.


def performance(question):
    """Answer one question after the other: your own answers are written here."""
    nodes = {node["id"]: node for node in question["nodes"]}
    arrived = question["arrived"][-1] if question["arrived"] else {}
    gradients = {question["root"]: 1.0}
    gradients |= {box: sum(parts) for box, parts in arrived.items()}
    if question["about"] == "begin":
        return question["root"]
    if question["about"] == "seed":
        return 1.0
    if question["about"] == "next":
        waiting = [box for box in question["complete"] if box not in question["visited"]]
        return waiting[0]
    node = nodes[question["node"]]
    inputs = [box for box in node["inputs"] if nodes[box]["grad"]]
    if question["about"] == "targets":
        return inputs[::-1]
    if question["about"] == "count":
        return str(len(inputs))
    g = gradients[question["node"]]
    if question["about"] == "sum":
        return g
    if node["op"] == "mul":
        other = node["inputs"][1 - question["place"]]
        return g * nodes[other]["value"]
    return g
