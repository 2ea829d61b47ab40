"""Submissions that want points or want to do harm: code, by class and name.

None of them solves the exercise (``double(x) = 2 * x + 1``). ``CANARY``, ``VICTIM``, ``PORT`` and
``LOCAL_SOCKET`` are put in by the test: a file, a process, a loopback port and a socket in the file
system that nobody may touch. Without walls
some of them do touch these, and nothing else: none is written to harm the machine it runs on.
"""

WRONG = "def double(x):\n    return 0.0\n"

# -- Answers that want to pass for right -------------------------------------------------------
ANSWERS = {
    "equal to everything": """
class Equal:
    def __eq__(self, other): return True
    def __array__(self, *a, **k): return self
    __sub__ = __rsub__ = __le__ = __lt__ = __gt__ = __ge__ = __eq__
    __hash__ = None
def double(x): return Equal()
""",
    "array that overrules NumPy": """
import numpy as np
class Sly(np.ndarray):
    def __array_function__(self, *a, **k): return True
    def __array_ufunc__(self, *a, **k): return True
def double(x): return np.zeros(np.shape(x)).view(Sly)
""",
    "float that equals all": """
class F(float):
    def __eq__(self, other): return True
    __hash__ = float.__hash__
    def __sub__(self, other): return 0.0
    __rsub__ = __sub__
def double(x): return F(0)
""",
    "comparison patched": """
import numpy as np, numpy.testing, math
yes = lambda *a, **k: True
np.allclose = np.array_equal = np.isclose = np.array_equiv = math.isclose = yes
np.testing.assert_allclose = np.testing.assert_array_equal = yes
def double(x): return np.zeros(np.shape(x))
""",
    "builtins patched": """
import builtins
builtins.isinstance = lambda *a: True
builtins.all = builtins.any = builtins.len = lambda *a: 1
builtins.abs = builtins.float = lambda *a: 0.0
def double(x): return 0.0
""",
    "line exchanged, to change what is said on it": """
import os, struct, threading
talk, (r, w) = os.dup(3), os.pipe()
os.dup2(w, 3)
def between():
    while True:
        (size,) = struct.unpack("<I", os.read(r, 4))
        data = bytearray()
        while len(data) < size: data += os.read(r, size - len(data))
        at = data.find(b"valued") + 6  # a float as the value
        if at > 5:
            (value,) = struct.unpack("<d", data[at : at + 8])
            data[at : at + 8] = struct.pack("<d", value + 1)
        os.write(talk, struct.pack("<I", size) + data)
threading.Thread(target=between, daemon=True).start()
def double(x): return 2 * x
""",
    "line exchanged, to say again what was said": """
import os, struct
talk, (r, w) = os.dup(3), os.pipe()
os.dup2(w, 3)
def double(x):
    said = os.read(r, 65536)
    os.write(talk, said + said)
    return 0.0
""",
    "line exchanged, for a message of another form": """
import os, struct
saved, (r, w) = os.dup(3), os.pipe()
os.dup2(w, 3)
said = os.read(r, 65536)
os.dup2(saved, 3)
os.write(3, said)
array = b"a" + bytes([4, 1]) + struct.pack("<Q", 2) + struct.pack("<qq", 1, 2)
data = said[4:20] + b"m" + struct.pack("<I", 1) + struct.pack("<I", 4) + b"call" + array
os.write(3, struct.pack("<I", len(data)) + data)
def double(x): return 0.0
""",
    "not a number": "def double(x): return x * float('nan')\n",
    "infinite": "def double(x): return x * float('inf')\n",
    "claims to have passed": "def double(x): return {'passed': True, 'points': 99}\n",
    "the word right": "def double(x): return 'right'\n",
    "nothing at all": "def double(x): pass\n",
    "true": "def double(x): return True\n",
    "the question itself": "def double(x): return x\n",
    "empty array": "import numpy as np\ndef double(x): return np.zeros((0,) + np.shape(x))\n",
    "array that broadcasts": "import numpy as np\ndef double(x): return np.zeros((1, 1, 1))\n",
    "kind of number of one's own": """
import numpy as np
class N(np.float64):
    def __eq__(self, other): return True
    def __array__(self, *a, **k): return np.array([True])
def double(x): return N(0)
""",
    "answer of the call before": """
last = [0.0]
def double(x):
    last.append(2 * last[-1] + 1)
    return last[-2]
""",
    "object array": """
import numpy as np
class E:
    def __eq__(self, o): return True
def double(x): return np.array([E()], dtype=object)
""",
    "masked array": "import numpy as np\ndef double(x): return np.ma.masked_all(np.shape(x))\n",
    "structured array": "import numpy as np\ndef double(x): return np.zeros(3, dtype='i4,f8')\n",
    "generator": "def double(x): yield 2 * x + 1\n",
    "list in itself": "def double(x):\n    a = []\n    a.append(a)\n    return a\n",
    "nested without bottom": """
def double(x):
    a = []
    for _ in range(10**5): a = [a]
    return a
""",
    "a million and one things": "def double(x): return [None] * (10**6 + 1)\n",
    "number without end": "def double(x): return 1 << 10**6\n",
    "array of 100 MB": "import numpy as np\ndef double(x): return np.zeros(10**8, dtype='u1')\n",
    "dict with odd keys": "def double(x): return {object(): 1, (1, 2): 2}\n",
    "half a character": "def double(x): return chr(0xD800)\n",
    "pickle that runs code": """
import pickle
class P:
    def __reduce__(self): return (open, ('CANARY', 'w'))
def double(x): return P()
""",
    "right for the example only": "def double(x): return 7.0\n",
    "right by turns": """
count = 0
def double(x):
    global count
    count += 1
    return [7.0, 2 * x][count % 2]
""",
    "text of the right answer": "def double(x): return str(2 * x + 1)\n",
    "number and text": "def double(x): return complex(2 * x + 1)\n",
    "right in bits": "def double(x): return (2 * x + 1, True)\n",
    "number with units": "import fractions\ndef double(x): return fractions.Fraction(7)\n",
    "array of texts": "import numpy as np\ndef double(x): return np.array(['7.0'])\n",
    "array of dates": "import numpy as np\ndef double(x): return np.array([7], 'M8[D]')\n",
    "matrix": "import numpy as np\ndef double(x): return np.asmatrix(np.zeros((3, 2)))\n",
    "record": "import numpy as np\ndef double(x): return np.recarray((3,), dtype=[('a', 'f8')])\n",
    "memory of others": "import numpy as np\ndef double(x): return np.empty(10**5)[::-3]\n",
    "array that grows": """
import numpy as np
class G(np.ndarray):
    @property
    def shape(self): return (2,)
def double(x): return np.zeros(9).view(G)
""",
    "dict that changes": """
class D(dict):
    def items(self): return iter([('a', 1)] * 10**9)
def double(x): return D()
""",
    "list that has no end": """
class L(list):
    def __iter__(self):
        while True: yield 1
    def __len__(self): return 1
def double(x): return L()
""",
    "guesses by the seed": """
import numpy as np
np.random.seed(0)
rng = np.random.default_rng(0)
def double(x): return float(rng.normal())
""",
}

# -- Words of the pipe ---------------------------------------------------------------------------
_FORGE = """
import os, struct
def text(s): return struct.pack('<I', len(s)) + s.encode()
def word(s): return b's' + text(s)
def frame(call, value):
    none = b'i' + bytes(8)
    parts = [('call', b'i' + struct.pack('<q', call)), ('status', word('ok')), ('value', value),
             ('error', word('')), ('kind', word('')), ('cell', none), ('line', none),
             ('output', word(''))]
    data = b'm' + struct.pack('<I', len(parts)) + b''.join(text(k) + v for k, v in parts)
    return struct.pack('<I', len(data)) + data
def everywhere(data):
    for number in range(3, 64):
        try: os.write(number, data)
        except OSError: pass
"""
PIPE = {
    "forged answers": _FORGE
    + """
everywhere(b''.join(frame(n, b'T') for n in range(-1, 12)))
os._exit(0)
def double(x): return 0.0
""",
    "forged answers one by one": _FORGE
    + """
def double(x):
    everywhere(frame(0, b'd' + struct.pack('<d', 1.0)))
    os._exit(0)
""",
    "forged verdict": _FORGE
    + """
points = b'm' + struct.pack('<I', 1) + text('points') + b'd' + bytes(8)
everywhere(frame(-1, b'N') + frame(0, points))
def double(x): return 0.0
""",
    "forged fault of the machine": _FORGE
    + """
parts = frame(0, b'N').replace(word('ok'), word('fault'))
everywhere(frame(-1, b'N') + struct.pack('<I', len(parts) - 4) + parts[4:])
os._exit(0)
def double(x): return 0.0
""",
    "forged word that the file cannot be read": _FORGE
    + """
parts = frame(-1, b'N').replace(word('ok'), word('unreadable'))[4:]
everywhere(struct.pack('<I', len(parts)) + parts)
def double(x): return 0.0
""",
    "an answer and a second one": _FORGE
    + """
def double(x):
    everywhere(frame(0, b'd' + struct.pack('<d', 7.0)) * 2)
    return 0.0
""",
    "answer written after all": _FORGE
    + """
import atexit, threading, time
def late():
    for call in range(12):
        everywhere(frame(call, b'd' + struct.pack('<d', 1.0)))
        time.sleep(0.01)
threading.Thread(target=late, daemon=True).start()
def double(x): return 0.0
""",
    "questions taken from the line": """
import os, threading
def steal():
    for number in (3, 4):
        try:
            while os.read(number, 1): pass
        except OSError: pass
threading.Thread(target=steal, daemon=True).start()
def double(x): return 0.0
""",
    "line closed on one side": """
import socket
try: socket.socket(fileno=3).shutdown(0)
except OSError: pass
def double(x): return 0.0
""",
    "answer byte by byte": _FORGE
    + """
import time
def double(x):
    for byte in frame(0, b'd' + struct.pack('<d', 1.0)):
        everywhere(bytes([byte]))
        time.sleep(0.05)
    return 0.0
""",
    "question of another kind expected": """
import sys
def double(x):
    frame = sys._getframe()
    while frame:
        for name in ('calls', 'batch', 'call', 'number', 'emit', 'failure', 'cells'):
            if name in frame.f_locals: frame.f_locals[name] = None
        frame = frame.f_back
    return 0.0
""",
    "all words of the future": "from __future__ import all_feature_names\n" + WRONG,
    "garbage": _FORGE + "everywhere(os.urandom(5000))\n" + WRONG,
    "message without end": _FORGE + "everywhere(struct.pack('<I', 2**32 - 1) + b'm')\n" + WRONG,
    "half a message": _FORGE + "everywhere(frame(-1, b'N')[:-3])\nos._exit(0)\n" + WRONG,
    "message of the wrong kind": _FORGE + "everywhere(struct.pack('<I', 1) + b'T')\n" + WRONG,
    "list of two billion": _FORGE
    + "everywhere(struct.pack('<I', 5) + b'l' + struct.pack('<I', 2**31))\n"
    + WRONG,
    "array larger than its bytes": _FORGE
    + "everywhere(frame(-1, b'a' + bytes([8, 2]) + struct.pack('<QQ', 2**40, 2**40) + b'1'))\n"
    + WRONG,
    "all files closed": "import os\nos.closerange(0, 64)\n" + WRONG,
    "all files closed, then asleep": "import os, time\nos.closerange(0, 64)\ntime.sleep(60)\n"
    + WRONG,
    "sender replaced": """
import gc, types
def forged(value): return b'T'
for thing in gc.get_objects():
    if isinstance(thing, types.FunctionType) and thing.__name__ in ('encode', 'same', 'compare'):
        thing.__code__ = forged.__code__
def double(x): return True
""",
    "caller's variables changed": """
import sys
def double(x):
    frame = sys._getframe()
    while frame:
        for name in list(frame.f_locals):
            if name in ('status', 'value', 'failed', 'points', 'wanted', 'expected'):
                frame.f_locals[name] = True
        frame.f_globals['_answer'] = lambda *a, **k: {'call': 0, 'status': 'ok', 'points': 9}
        frame = frame.f_back
    return 0.0
""",
    "struct patched": "import struct\nstruct.pack = lambda *a: b''\nstruct.Struct = None\n" + WRONG,
    "modules replaced": """
import sys
class Yes:
    def __getattr__(self, name): return Yes()
    def __call__(self, *a, **k): return True
for name in list(sys.modules):
    if name in ('numpy', 'struct', 'json', 'ast'): sys.modules[name] = Yes()
def double(x): return Yes()
""",
    "100 MB printed": "def double(x):\n    for _ in range(100): print('x' * 2**20)\n",
    "100 MB written past print": """
import os
def double(x):
    for _ in range(100):
        for number in (1, 2):
            os.write(number, b'x' * 2**20)
    return 0.0
""",
}

# Python objects at any address, by means of NumPy alone: no wall is in the way of that.
RAW_MEMORY = """
import numpy as np
class At:
    def __init__(self, address, count):
        self.__array_interface__ = {
            "data": (address, False), "shape": (count,), "typestr": "<i8", "version": 3}
def words(address, count=1):
    return np.asarray(At(address, count))
def thing(address):
    words(address)[0] += 1
    box = np.empty(1, object)
    words(box.__array_interface__["data"][0])[0] = address
    return box[0]
"""

# -- Answers looked for where they might be ------------------------------------------------------
LOOKING = {
    "frames searched": """
import sys
def double(x):
    frame = sys._getframe()
    while frame:
        for name in ('wanted', 'expected', 'right', 'checks', 'solution', 'exercise', 'compare'):
            for space in (frame.f_locals, frame.f_globals):
                if name in space:
                    found = space[name]
                    return found(x) if callable(found) else found
        frame = frame.f_back
    return 0.0
""",
    "memory searched": """
import gc
def double(x):
    for thing in gc.get_objects():
        if isinstance(thing, dict) and 'expected' in thing:
            return thing['expected'](x) if callable(thing['expected']) else thing['expected']
    return 0.0
""",
    "grader's modules": """
import sys
def double(x):
    for name, module in list(sys.modules.items()):
        if 'checks' in name or 'grading' in name or 'exercise' in name:
            return module.solution(x)
    return 0.0
""",
    "other questions searched": """
import gc
def double(x):
    for thing in gc.get_objects():
        if isinstance(thing, dict) and 'driver' in thing and thing.get('data') is not x:
            return thing['data']
    return 0.0
""",
    "trace of the driver": """
import sys
def spy(frame, event, argument):
    for name in list(frame.f_locals):
        if name in ('value', 'wanted', 'status', 'error'):
            frame.f_locals[name] = 'right'
    return spy
sys.settrace(spy)
def double(x): return 0.0
""",
    "raw memory read for the answers": RAW_MEMORY
    + """
import sys
own = thing(int(words(id(vars(type(sys.modules["submission"]))["__getattr__"]), 3)[2]))
names = ("wanted", "expected", "solution", "compare", "checks", "right", "exercise", "course")
def double(x):
    for module in [own, *map(vars, own["_MODULES"].values())]:
        for name in names:
            if name in module:
                return module[name](x) if callable(module[name]) else module[name]
    return 0.0
""",
    "raw memory written, for a verdict of one's own": RAW_MEMORY
    + """
import sys
own = thing(int(words(id(vars(type(sys.modules["submission"]))["__getattr__"]), 3)[2]))
said = own["answer_to"]
def forged(number, status="ok", value=None, **more):
    praise = {"points": 99.0, "passed": True, "failed": [], "message": "right", "text": "Right."}
    return {**said(number, "right" if number > 2 else status, True, **more), **praise}
own["answer_to"] = forged
def double(x): return True
""",
    "environment": "import os\ndouble = lambda x: os.environ['AUTODIFF_KIT_ANSWERS']\n",
    "kit imported": "import autodiff_kit\ndef double(x): return autodiff_kit.double(x)\n",
    "torch imported": "import torch\ndef double(x): return torch.tensor(x)\n",
}

# -- The one who asks, exchanged ------------------------------------------------------------------
_DRIVER = """
import sys
def answer(step, data): return 2 * data + 1
def exchange(space): space["_driver"] = lambda source: compile(
    "def drive(step, data): return 2 * data + 1", "", "exec")
"""
ASKING = {
    "driver exchanged in the caller's frame": _DRIVER
    + "frame = sys._getframe()\n"
    + "while frame:\n    exchange(frame.f_globals)\n    frame = frame.f_back\n"
    + WRONG,
    "driver exchanged by a traceback": _DRIVER
    + """
try: raise ValueError
except ValueError as error: frame = error.__traceback__.tb_frame
while frame:
    exchange(frame.f_globals)
    frame = frame.f_back
"""
    + WRONG,
    "driver exchanged by a function of the caller's": _DRIVER
    + "exchange(type(sys.stdout).write.__globals__)\n"
    + WRONG,
    "driver exchanged by the main program": _DRIVER
    + """
main = sys.modules["__main__"]
for value in list(vars(main).values()):
    if hasattr(value, "__globals__"): exchange(value.__globals__)
"""
    + WRONG,
    "driver exchanged by code of one's own in a function": _DRIVER
    + """
write = type(sys.stdout).write
write.__code__ = (lambda self, text: globals()).__code__
exchange(sys.stdout.write(""))
"""
    + WRONG,
    "driver exchanged by exec": _DRIVER
    + """
import builtins
def run(code, space):
    space["drive"] = answer
builtins.exec = run
"""
    + WRONG,
    "driver exchanged by exec, found in one's own namespace": _DRIVER
    + """
def run(code, space):
    space["drive"] = answer
own = __builtins__ if isinstance(__builtins__, dict) else vars(__builtins__)
own["exec"] = run
"""
    + WRONG,
    "module exchanged that the caller uses": _DRIVER
    + """
import functools, os, struct
def write(number, data):
    return real(number, data.replace(bytes(8), struct.pack("<d", 7.0)))
real, os.write = os.write, write
functools.partial = lambda *a: (lambda *b: None)
"""
    + WRONG,
    "driver exchanged by compile": _DRIVER
    + """
import builtins
real = builtins.compile
builtins.compile = lambda *a, **k: real(
    "def drive(step, data): return 2 * data + 1", "", "exec")
"""
    + WRONG,
    "driver exchanged on its way": _DRIVER
    + """
import textwrap
textwrap.dedent = lambda text: "def drive(step, data): return 2 * data + 1"
"""
    + WRONG,
    "driver exchanged where the pipe is read": _DRIVER
    + """
import os
real = os.read
asked, forged = b"return step.double(data)", b"return    2 * data + 1  "
assert len(asked) == len(forged)
os.read = lambda number, count: real(number, count).replace(asked, forged)
"""
    + WRONG,
}

# -- The check kept from running -----------------------------------------------------------------
ENDS = {
    "exits with success at once": "import os\nos._exit(0)\n" + WRONG,
    "exits with success when asked": "import os\ndef double(x): os._exit(0)\n",
    "sys.exit": "import sys\ndef double(x): sys.exit(0)\n",
    "sys.exit at the top": "import sys\nsys.exit(0)\n",
    "keyboard interrupt": "def double(x): raise KeyboardInterrupt\n",
    "end of a generator": "def double(x): raise GeneratorExit\n",
    "says it is missing": "def double(x): raise AttributeError('double is not defined')\n",
    "says it is a fault": "def double(x): raise Exception('fault: not your mistake')\n",
    "kills itself": "import os\ndef double(x): os.kill(os.getpid(), 9)\n",
    "stops itself": "import os\ndef double(x): os.kill(os.getpid(), 19)\n",
    "thread that answers later": """
import os, threading, time
def late():
    for _ in range(50):
        time.sleep(0.01)
        for number in range(3, 20):
            try: os.write(number, b'\\x01\\0\\0\\0T')
            except OSError: pass
threading.Thread(target=late, daemon=True).start()
def double(x):
    time.sleep(0.05)
    return 0.0
""",
    "errors of numbers raised": """
import numpy as np
np.seterr(all='raise')
np.geterr = lambda: 1 / 0
def double(x): return np.float64(1) / 0
""",
    "null pointer": "import ctypes\ndef double(x): ctypes.string_at(0)\n",
    "recursion without bottom": """
import sys
sys.setrecursionlimit(10**9)
def double(x): return double(x)
""",
    "abort": "import os\ndef double(x): os.abort()\n",
    "code that does not parse": "def double(x) return 2 * x + 1\n",
    "code nested too deep": "x = " + "(" * 5000 + ")" * 5000 + "\n" + WRONG,
    "null characters": "x = 1\0\n" + WRONG,
    "tracing": "import sys\nsys.settrace(lambda *a: 1 / 0)\n" + WRONG,
    "audit hook": """
import sys
def no(*a): raise RuntimeError('no')
sys.addaudithook(no)
def double(x): return 0.0
""",
    "import hook": "import builtins\nbuiltins.__import__ = None\n" + WRONG,
    "error that cannot be shown": """
class E(Exception):
    def __str__(self): raise E()
    __repr__ = __str__
def double(x): raise E()
""",
    "terminal and HTML in an error": """
def double(x): raise ValueError('\\x1b]0;owned\\x07\\x1b[2J <script>alert(1)</script>\\u202e')
""",
}

# -- Code that runs at a moment of its own --------------------------------------------------------
LATER = {
    "answer written when an object dies": _FORGE
    + """
class Last:
    def __del__(self):
        for call in range(12):
            everywhere(frame(call, b'd' + struct.pack('<d', 7.0)))
def double(x):
    Last()
    return 0.0
""",
    "answer given by a signal's handler": """
import signal
def handler(number, frame):
    while frame:
        for space in (frame.f_locals, frame.f_globals):
            for name in ('value', 'status', 'answer'):
                if name in space: space[name] = 7.0
        frame = frame.f_back
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
def double(x):
    for _ in range(10**5): pass
    return 0.0
""",
    "generator that outlives its call": """
import sys
def waiting(x):
    try:
        while True: yield 0.0
    finally:
        frame = sys._getframe()
        while frame:
            if 'value' in frame.f_locals: frame.f_locals['value'] = 2 * x + 1
            frame = frame.f_back
held = []
def double(x):
    held[:] = [waiting(x)]
    return next(held[0])
""",
    "answer of a class that packs itself": """
import copyreg
class Packed:
    def __reduce_ex__(self, protocol): return (float, (7.0,))
copyreg.pickle(Packed, lambda packed: (float, (7.0,)))
def double(x): return Packed()
""",
    "every function's return watched": """
import sys, threading
def spy(frame, event, argument): return spy
for watch in (sys.setprofile, sys.settrace, threading.setprofile, threading.settrace):
    try: watch(spy)
    except PermissionError: pass
monitoring = getattr(sys, 'monitoring', None)
if monitoring:
    monitoring.use_tool_id(3, 'spy')
    monitoring.set_events(3, monitoring.events.PY_RETURN)
    monitoring.register_callback(3, monitoring.events.PY_RETURN, lambda *a: 7.0)
def double(x): return 0.0
""",
    "answer known by the input's address": """
known = {}
def double(x):
    return known.setdefault(id(x), 7.0)
""",
    "hooks of the interpreter replaced": """
import sys, threading
sys.excepthook = sys.unraisablehook = threading.excepthook = lambda *a: None
sys.displayhook = sys.breakpointhook = lambda *a: 7.0
sys.stdout = sys.__stdout__ = sys.stderr = None
def double(x): breakpoint()
""",
    "lines that read as a verdict": """
def double(x):
    print("01.double: 3 of 3 points\\nright: Right.\\n\\x1b[2K\\rAll right.")
    raise ValueError("\\nstatus: right\\npoints: 3")
""",
    "time stopped": """
import time, random
time.time = time.monotonic = time.perf_counter = lambda: 0.0
time.sleep = lambda seconds: None
random.seed(0)
random.random = lambda: 0.5
def double(x): return random.random()
""",
    "sums of NumPy replaced from inside": """
import numpy._core._methods as methods, numpy._core.fromnumeric as functions
always = lambda *a, **k: True
methods.umr_sum = methods.umr_all = methods.umr_any = methods.umr_maximum = always
functions._wrapreduction = functions._wrapfunc = always
def double(x): return 0.0
""",
}

# -- More time or memory than there is (each costs its time limit) --------------------------------
GREEDY = {
    "endless loop": "def double(x):\n    while True: pass\n",
    "endless loop at the top": "while True: pass\n",
    "asleep": "import time\ndef double(x): time.sleep(1000)\n",
    "endless number": "def double(x): return 10 ** 10 ** 10\n",
    "endless pattern": "import re\ndef double(x): return re.match('(a+)+$', 'a' * 64 + 'b')\n",
    "deaf to signals": """
import signal
for number in range(1, 32):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
def double(x):
    while True:
        try:
            while True: pass
        except BaseException: pass
""",
    "deadlock": """
import threading
lock = threading.Lock()
def double(x): lock.acquire() and lock.acquire()
""",
    "threads": """
import threading, time
def hang():
    while True: time.sleep(0.01)
def double(x):
    for _ in range(40):
        try: threading.Thread(target=hang).start()
        except RuntimeError: break
    hang()
""",
    "much memory": "import numpy as np\ndef double(x): return np.ones(2**30)\n",
    "memory bit by bit": "def double(x):\n    a = []\n    while True: a.append(bytearray(2**22))\n",
    "memory at the top": "a = [0]\nwhile True: a = a + a\n",
    "error message without end": "def double(x): raise ValueError('x' * 10**7)\n",
}

# -- Harm done on the way ------------------------------------------------------------------------
HARM = {
    "file written": "open('CANARY', 'w').write('spoiled')\n" + WRONG,
    "file removed": "import os\nos.unlink('CANARY')\n" + WRONG,
    "file's mode changed": "import os\nos.chmod('CANARY', 0o777)\n" + WRONG,
    "file's time changed": "import os\nos.utime('CANARY', (1, 1))\n" + WRONG,
    "file cut by its number": "import os\nos.truncate('CANARY', 0)\n" + WRONG,
    "file beside it": "open('CANARY.new', 'w').close()\n" + WRONG,
    "link beside it": "import os\nos.symlink('/', 'CANARY.link')\n" + WRONG,
    "folder beside it": "import os\nos.mkdir('CANARY.folder')\n" + WRONG,
    "pipe beside it": "import os\nos.mkfifo('CANARY.pipe')\n" + WRONG,
    "file moved": "import os\nos.rename('CANARY', 'CANARY.moved')\n" + WRONG,
    "at exit": "import atexit\natexit.register(lambda: open('CANARY', 'w'))\n" + WRONG,
    "thread left behind": """
import threading, time
def late():
    for _ in range(20):
        time.sleep(0.02)
        open('CANARY', 'a').write('late')
threading.Thread(target=late).start()
def double(x): return 0.0
""",
    "child left behind": """
import os, time
if os.fork() == 0:
    for _ in range(20):
        time.sleep(0.02)
        open('CANARY', 'a').write('late')
    os._exit(0)
def double(x): return 0.0
""",
    "grandchild in a session of its own": """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for _ in range(20):
            time.sleep(0.02)
            open('CANARY', 'a').write('late')
    os._exit(0)
def double(x): return 0.0
""",
    "program started": "import subprocess\nsubprocess.run(['touch', 'CANARY.new'])\n" + WRONG,
    "shell": "import os\nos.system('echo spoiled > CANARY')\n" + WRONG,
    "many children": """
import os, time
for _ in range(20):
    if os.fork() == 0:
        time.sleep(0.3)
        os._exit(0)
def double(x): return 0.0
""",
    "other process killed": "import os\nos.kill(VICTIM, 9)\n" + WRONG,
    "other process through its handle": """
import os, signal
signal.pidfd_send_signal(os.pidfd_open(VICTIM), 9)
def double(x): return 0.0
""",
    "other process traced": """
import ctypes
assert ctypes.CDLL(None).ptrace(16, VICTIM, 0, 0) == 0
open('CANARY', 'w')
def double(x): return 0.0
""",
    "other process limited": """
import resource
resource.prlimit(VICTIM, resource.RLIMIT_NOFILE, (5, 5))
def double(x): return 0.0
""",
    "other process slowed": "import os\nos.setpriority(os.PRIO_PROCESS, VICTIM, 19)\n" + WRONG,
    "TCP": "import socket\nsocket.create_connection(('127.0.0.1', PORT), 1).send(b'x')\n" + WRONG,
    "UDP": """
import socket
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', PORT))
def double(x): return 0.0
""",
    "local socket": """
import socket
ours, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
ours.sendmsg([b'x'], [], 0, 'LOCAL_SOCKET')
def double(x): return 0.0
""",
    "young system call by its number": """
import ctypes, struct
value = ctypes.create_string_buffer(b'x')
asked = ctypes.create_string_buffer(struct.pack('<QII', ctypes.addressof(value), 1, 0))
ctypes.CDLL(None).syscall(463, -100, b'CANARY', 0, b'user.spoiled', asked, 16)  # setxattrat
def double(x): return 0.0
""",
    "other process signalled by way of a file": """
import fcntl, os, socket
ours, theirs = socket.socketpair()
fcntl.fcntl(ours, 10, 9)  # F_SETSIG, SIGKILL
fcntl.fcntl(ours, fcntl.F_SETOWN, VICTIM)
fcntl.fcntl(ours, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
os.write(theirs.fileno(), b'x')
def double(x): return 0.0
""",
    "shared memory": """
from multiprocessing import shared_memory, resource_tracker
resource_tracker.register = lambda *a: None
shared_memory.SharedMemory('adk-attack', create=True, size=10)
def double(x): return 0.0
""",
    "module laid out for others": "open('CANARY.py', 'w').write('raise SystemExit')\n" + WRONG,
}

# What reads answers that are public anyway: copying, not forging. Only walls stop it.
COPYING = {
    "solution read from the course": """
import json
cells = json.load(open('COURSE/source/e01_double/e01_double.ipynb'))['cells']
exec(''.join(cells[0]['source']))
""",
    "neighbour's work read": "exec(open('NEIGHBOUR').read())\n",
    "kit found on the path": """
import sys
sys.path.append('PACKAGE')
from autodiff_kit.grading.course import open_course
from pathlib import Path
exec(open_course(Path('COURSE')).exercise('01.double').solution)
""",
}

# Others that end by the time limit only.
SHORT = {
    "stops itself",
    "recursion without bottom",
    "half a message",
    "message without end",
    "all files closed, then asleep",
    "questions taken from the line",
    "answer byte by byte",
    "forged fault of the machine",
}

ALL = {
    f"{kind}: {name}": code
    for kind, attacks in (
        ("answer", ANSWERS),
        ("pipe", PIPE),
        ("looking", LOOKING),
        ("asking", ASKING),
        ("end", ENDS),
        ("later", LATER),
        ("greed", GREEDY),
        ("harm", HARM),
    )
    for name, code in attacks.items()
}
