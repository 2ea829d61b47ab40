# A table from each memory to its count: NumPy itself knows which arrays look into the same one.
changes = {}


def memory_of(data):
    while isinstance(data.base, np.ndarray):
        data = data.base
    return data


class Array:
    def __init__(self, data, counter=None):
        self.data = data
        memory = memory_of(data)
        changes.setdefault(id(memory), [memory, 0])

    @property
    def version(self):
        return changes[id(memory_of(self.data))][1]

    def add_(self, number):
        self.data += number
        changes[id(memory_of(self.data))][1] += 1

    def mul_(self, number):
        self.data *= number
        changes[id(memory_of(self.data))][1] += 1

    def view(self, start, stop):
        return Array(self.data[start:stop])

    def detach(self):
        return Array(self.data)

    def copy(self):
        return Array(self.data.copy())
