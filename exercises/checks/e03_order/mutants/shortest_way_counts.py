# message: shortest_way_counts
def order(root):
    distance, line = {id(root): (0, root)}, [root]
    for node in line:
        for x in node.inputs:
            if id(x) not in distance:
                distance[id(x)] = (distance[id(node)][0] + 1, x)
                line.append(x)
    pairs = sorted(distance.values(), key=lambda pair: (pair[0], pair[1].name))
    return [node for _, node in pairs]
