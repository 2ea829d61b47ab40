# The count is a NumPy array of one number, which is shared as memory is; the rules are objects.


class Changed(RuntimeError):
    pass


class Array:
    def __init__(self, data, counter=None):
        self._numbers = data
        self._count = np.zeros(1, int) if counter is None else counter

    @property
    def data(self):
        return self._numbers.view()

    @property
    def version(self):
        return self._count[0]

    def add_(self, number):
        for place in range(len(self._numbers)):
            self._numbers[place] += number
        self._count += 1

    def mul_(self, number):
        for place in range(len(self._numbers)):
            self._numbers[place] *= number
        self._count += 1

    def view(self, start, stop):
        return Array(self._numbers[start:stop], self._count)

    def detach(self):
        return Array(self._numbers, self._count[:])

    def copy(self):
        return Array(self._numbers + 0.0)


class Saved:
    def __init__(self, array):
        self.array = array
        self.then = int(array.version)

    def get(self):
        if self.array.version == self.then:
            numbers = self.array.data
            numbers.flags.writeable = False
            return numbers
        raise Changed(f"version {self.then} was saved, and it is version {self.array.version} now")


class Times:
    def __init__(self, factor, saved):
        self.factor = factor
        self.saved = saved

    def __call__(self, g):
        return self.factor * self.saved.get() * g


def square(x):
    return Array(x.data * x.data), Times(2.0, Saved(x))


def exp(x):
    out = Array(np.exp(x.data))
    return out, Times(1.0, Saved(out))


def add(x, y):
    return Array(x.data + y.data), lambda g: np.stack([g, g])
