# message: copy_shares_the_memory


class Array:
    def __init__(self, data, counter=None):
        self.data = data
        self.counter = [0] if counter is None else counter

    @property
    def version(self):
        return self.counter[0]

    def add_(self, number):
        self.data += number
        self.counter[0] += 1

    def mul_(self, number):
        self.data *= number
        self.counter[0] += 1

    def view(self, start, stop):
        return Array(self.data[start:stop], self.counter)

    def detach(self):
        return Array(self.data, self.counter)

    def copy(self):
        return Array(self.data)
