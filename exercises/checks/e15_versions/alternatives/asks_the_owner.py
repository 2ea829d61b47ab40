# The Array that owns the memory counts; all others, however far from it, know their owner.


class Array:
    def __init__(self, data, owner=None):
        self.data = data
        self.owner = self if owner is None else owner
        if owner is None:
            self.changes = 0

    @property
    def version(self):
        return self.owner.changes

    def _write(self, numbers):
        self.data[:] = numbers
        self.owner.changes += 1
        return self

    def add_(self, number):
        return self._write(self.data + number)

    def mul_(self, number):
        return self._write(self.data * number)

    def view(self, start, stop):
        return Array(self.data[start:stop], self.owner)

    def detach(self):
        return self.view(None, None)

    def copy(self):
        return Array(self.data.copy())


class Saved:
    def __init__(self, array):
        self.pair = (array, array.owner.changes)

    def get(self):
        array, then = self.pair
        if array.owner.changes > then:
            raise RuntimeError(
                f"This array was saved at version {then}; it is now at version {array.version}."
            )
        return array.data
