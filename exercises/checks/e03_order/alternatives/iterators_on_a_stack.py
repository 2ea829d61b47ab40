# Keeps, for each node on the way, an iterator over the inputs that are left.
def order(root):
    ids, result = {id(root)}, []
    way = [(root, iter(root.inputs))]
    while way:
        node, rest = way[-1]
        for x in rest:
            if id(x) not in ids:
                ids.add(id(x))
                way.append((x, iter(x.inputs)))
                break
        else:
            result.insert(0, way.pop()[0])
    return result
