# Sorts by the length of the longest way from the root.
def order(root):
    distance, line = {root: 0}, [root]
    while line:
        node = line.pop(0)
        for x in node.inputs:
            if distance.get(x, -1) < distance[node] + 1:
                distance[x] = distance[node] + 1
                line.append(x)
    return sorted(distance, key=distance.get)
