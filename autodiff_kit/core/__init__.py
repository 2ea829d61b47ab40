"""What a computation graph is made of. Page 0: an engine on a page.

All of reverse-mode differentiation, for numbers. Each operation notes its inputs, and for each of
them the slope of the result; ``backward`` walks from the result to what it was computed from and
adds up, at each input, the gradient of the output times that slope (the chain rule).

>>> class Number:
...     def __init__(self, value, inputs=()):
...         self.value, self.inputs, self.grad = value, inputs, 0.0
...
...     def __add__(self, other):
...         return Number(self.value + other.value, [(self, 1.0), (other, 1.0)])
...
...     def __mul__(self, other):
...         return Number(self.value * other.value, [(self, other.value), (other, self.value)])
>>> def backward(root):
...     order = []
...
...     def visit(node):
...         if node not in order:
...             for source, slope in node.inputs:
...                 visit(source)
...             order.append(node)  # after all that it was computed from
...
...     visit(root)
...     root.grad = 1.0
...     for node in reversed(order):  # complete before it is passed on
...         for source, slope in node.inputs:
...             source.grad += node.grad * slope
>>> x, y = Number(2.0), Number(3.0)
>>> z = x * y + x
>>> backward(z)
>>> x.grad, y.grad
(4.0, 2.0)

The kit does the same for arrays, and for a part of PyTorch's operations. What it adds, and where:
a table of operations and their slopes as functions (``op.py``), nodes that save only what these
functions read (``node.py``), an engine without recursion that takes the newest node first
(``autograd/engine.py``), and modes in which nothing is noted (``mode.py``). Read next: ``base.py``.
"""
