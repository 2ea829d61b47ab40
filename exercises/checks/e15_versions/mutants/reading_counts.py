# message: reading_counts


class Array:
    def __init__(self, data, counter=None):
        self.numbers = data
        self.counter = [0] if counter is None else counter

    @property
    def data(self):
        self.counter[0] += 1  # it might be written
        return self.numbers

    @property
    def version(self):
        return self.counter[0]

    def add_(self, number):
        self.numbers += number
        self.counter[0] += 1

    def mul_(self, number):
        self.numbers *= number
        self.counter[0] += 1

    def view(self, start, stop):
        return Array(self.numbers[start:stop], self.counter)

    def detach(self):
        return Array(self.numbers, self.counter)

    def copy(self):
        return Array(self.numbers.copy())
