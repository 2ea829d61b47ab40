# The counter is an object of its own; the rules are functions within functions.


class Counter:
    def __init__(self):
        self.changes = 0

    def up(self):
        self.changes += 1


class Array:
    def __init__(self, data, counter=None):
        self.data = data
        self.counter = counter or Counter()

    @property
    def version(self):
        return self.counter.changes

    def add_(self, number):
        np.add(self.data, number, out=self.data)
        self.counter.up()

    def mul_(self, number):
        np.multiply(self.data, number, out=self.data)
        self.counter.up()

    def view(self, start, stop):
        return Array(self.data[start:stop], self.counter)

    def detach(self):
        return Array(self.data[:], self.counter)

    def copy(self):
        return Array(np.array(self.data))


def square(x):
    saved = Saved(x)

    def rule(g):
        x = saved.get()
        return g * x + x * g

    return Array(x.data**2), rule


def add(x, y):
    def rule(g):
        return [g.copy(), g.copy()]

    return Array(x.data + y.data), rule
