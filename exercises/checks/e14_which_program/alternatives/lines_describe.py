# The straight program is a description, too.
def write_down(root):
    lines, names, way = [], {}, [root]
    while way:
        node = way[-1]
        missing = [x for x in node.inputs if id(x) not in names]
        if missing:
            way += missing[:1]
            continue
        way.pop()
        names[id(node)] = node.name
        if node.inputs:
            names[id(node)] = "t" + str(len(lines))
            left, right = (names[id(x)] for x in node.inputs)
            lines.append(" ".join([names[id(node)], "=", left, node.op, right]))
    return lines


def describe(root):
    return "\n".join(write_down(root)) or root.name


def which(root, programs, leaves):
    index_of = {describe(program(*leaves)): index for index, program in enumerate(programs)}
    return index_of[describe(root)]
