"""The house in a picture: ``python -m tests.house`` draws it from what the modules import.

The floors and the rule that nothing points back are those of ``layers.py``. The picture is in
Mermaid's language, which the pages of code hosts draw; arrows that follow from others are left out.
"""

from collections import defaultdict

from tests.layers import FLOORS, floor_of, layer_of
from tests.layers import graph as graph_of_modules

ROOMS = {
    "cli": "cli: the command autodiff-kit",
    "core": "functions, creation, linalg ...: what you call",
    "grading": "grading: runs and judges answers",
    "lessons": "lessons: questions, progress",
    "nn": "nn: layers and losses",
    "optim": "optim: optimizers",
    "record": "record: watches the core",
    "site": "site: lessons in a browser tab",
    "sphinxext": "sphinxext: Steppers in documentation",
    "static": "static: a trace, replayed",
    "subset": "subset: what of PyTorch is here",
    "utils": "utils: data, checkpoints",
    "view": "view: pictures",
    "widgets": "widgets: labs in Jupyter",
}


def room_of(module: str) -> str:
    """Return the room of a module: a floor of the core, or what stands above it."""
    floor = floor_of(module)
    return FLOORS[floor][0] if floor < len(FLOORS) else ROOMS.get(layer_of(module), "")


def arrows() -> dict[str, set[str]]:
    """Return what each room imports. Who imports the package's face may call what is public."""
    imports: dict[str, set[str]] = defaultdict(set)
    for module, targets in graph_of_modules().items():
        room = room_of(module)
        if room:
            imports[room] |= {room_of(t) or ROOMS["core"] for t in targets} - {room}
    return imports


def below(room: str, graph: dict[str, set[str]]) -> set[str]:
    """Return the rooms that a room reaches."""
    reached: set[str] = set()
    waiting = [room]
    while waiting:
        new = graph.get(waiting.pop(), set()) - reached
        reached |= new
        waiting += new
    return reached


def picture() -> str:
    """Return the house as a Mermaid flowchart."""
    graph = arrows()
    rooms = sorted(
        {room for room in map(room_of, graph_of_modules()) if room},
        key=lambda room: (-depth(room, graph), room),
    )
    names = {room: f"r{number}" for number, room in enumerate(rooms)}
    text = ["flowchart TD"]
    text += [f'    {names[room]}["{room}"]' for room in rooms]
    for room in rooms:
        further = {far for near in graph[room] for far in below(near, graph)}
        text += [
            f"    {names[room]} --> {names[near]}"
            for near in rooms
            if near in graph[room] - further
        ]
    return "\n".join(text)


def depth(room: str, graph: dict[str, set[str]]) -> int:
    """Return how many rooms stand below a room, one on the other."""
    return max((1 + depth(near, graph) for near in graph.get(room, ())), default=0)


if __name__ == "__main__":
    print(picture())
