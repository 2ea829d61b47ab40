"""What holds of every recording, whatever was run: each fact is compared with the run itself."""

from __future__ import annotations

import ast
import contextlib
import json
import re
import sys
from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest

import autodiff_kit as ak
from autodiff_kit.nn import functional
from autodiff_kit.record import Recording
from autodiff_kit.view.frames import tell
from autodiff_kit.view.labels import word
from autodiff_kit.view.rule_words import decisions, rule_of
from autodiff_kit.view.rules import decided, parsed
from autodiff_kit.view.slopes import slope_text
from autodiff_kit.view.text import facts
from autodiff_kit.view.values import TIMES
from tests.invariants.conftest import LIBRARIES
from tests.invariants.running import PROGRAMS, Run, run
from tests.parity import require_torch

OPERATORS = {
    ast.Add: "add sub sum", ast.Sub: "sub rsub add", ast.Mult: "mul", ast.Div: "div reciprocal mul",
    ast.Pow: "pow_to_number pow_from_number pow_tensor",
    ast.MatMult: "mm mv dot matmul bmm unsqueeze drop_dim",
    ast.Gt: "gt", ast.Lt: "lt",
}  # fmt: skip
EVERYWHERE = {"promote", "expand", "to_copy", "copy_from", "contiguous", "clone", "put", "pick"}
WORD = re.compile(r"\b[^\W\d]\w*")  # and not the e of 1e-06


def test_there_are_two_hundred_programs() -> None:
    assert len(PROGRAMS) >= 200


def nothing_went_wrong_in_the_recorder(program: Run) -> None:
    assert program.recording.note is None
    assert program.nodes


def it_reads_from_json_as_it_was_written(program: Run) -> None:
    data = program.recording.to_dict()

    again = Recording.from_dict(json.loads(json.dumps(data)))

    assert again.to_dict() == data


def each_part_can_be_folded(program: Run) -> None:
    """Folded, it may have leaves that were made of its own results: they are in it, too."""
    for part in program.picture.opened_parts.parts:
        folded = program.picture.closed(part["key"])
        place = {box.id: k for k, box in enumerate(folded.outline.boxes)}
        assert all(place[e.source] < place[e.target] for e in folded.outline.edges)


# -- places ------------------------------------------------------------------------------------


def source_at(run: Run, where: list[int]) -> str:
    _, line, column, end_line, end_column = where
    lines = run.source.splitlines()[line - 1 : end_line]
    lines[-1] = lines[-1][:end_column]
    lines[0] = lines[0][column:]
    return "\n".join(lines)


def the_source_that_is_lit_is_the_expression_that_ran(program: Run) -> None:
    tree = ast.parse(program.source)
    by_text = defaultdict(list)
    lines = [line.encode() for line in program.source.split("\n")]  # columns count bytes
    for part in ast.walk(tree):
        if isinstance(part, ast.expr | ast.stmt):
            rows = lines[part.lineno - 1 : part.end_lineno]
            rows[-1] = rows[-1][: part.end_col_offset]
            rows[0] = rows[0][part.col_offset :]
            by_text[b"\n".join(rows).decode()].append(part)
    for node in program.nodes:
        if node["where"] is None or not node["text"]:
            continue
        text = source_at(program, node["where"])
        assert text in by_text, f"{text!r} is no expression"
        operator = getattr(by_text[text][0], "op", None)
        fits = OPERATORS.get(type(operator))
        if node["op"] and fits and not isinstance(by_text[text][0], ast.AugAssign):
            assert node["op"] in {*fits.split(), *EVERYWHERE}, (text, node["op"])


# -- names -------------------------------------------------------------------------------------

OUR_WORDS = set(
    WORD.findall(
        "a tensor from before elsewhere, changed by, at the end of, End, viewed again, to float32,"
        "shape, 's output"
    )
)


def foreign_words(run: Run, text: str, allowed: set[str]) -> set[str]:
    """Return what in a title neither the learner nor the op table has written."""
    own = set(WORD.findall(run.source))
    names = {n["name"] for n in run.nodes if n["name"]}
    own |= {w for name in names for w in WORD.findall(name)} | allowed
    text = re.sub(r"\w*…\w*", "", text)  # a long expression without its middle
    return {w for w in WORD.findall(text) if w not in own}


def every_name_is_one_that_the_learner_wrote(program: Run) -> None:
    own = set(WORD.findall(program.source))
    modules = {"grad", *program.space}
    for value in program.space.values():  # parameters, by the names that their modules give them
        if hasattr(type(value), "named_parameters"):
            own_names = [*value.named_parameters(), *value.named_buffers()]
            modules |= {part for name, _ in own_names for part in name.split(".")}
    for node in program.nodes:
        variable = node.get("variable", "")
        assert not variable or re.fullmatch(re.escape(variable) + r"_?\d+", node["name"])
        for name in WORD.findall(variable or node["name"] or ""):
            assert not re.fullmatch(r"grad\d+", name), node["name"]  # an attribute of no tensor
            assert name in own | modules, node["name"]


def a_title_is_the_learners_expression(program: Run) -> None:
    names = program.names
    words = set(OUR_WORDS)
    for name, op in program.recording.ops.items():
        words |= set(WORD.findall(word(name))) | set(WORD.findall(op["text"]))
        words |= {name} & set(dir(functional))  # what PyTorch's users know it as
    for node in program.nodes:
        title = names.title(node["id"])
        assert title and not re.search(r"\bv\d+\b|_bar\b|_along|get_ipython|#", title)
        assert not foreign_words(program, title, words), title


def a_box_is_called_like_no_other_with_another_expression(program: Run) -> None:
    names = program.names
    texts = defaultdict(set)
    for node in program.nodes:
        if node["kind"] == "op" and node["text"]:
            place = (tuple(node["where"]), node["op"], node["params"].get("index"))
            texts[names.title(node["id"])].add((node["scope"], place))
    for title, places in texts.items():
        in_one_scope = defaultdict(set)
        for scope, place in places:
            in_one_scope[scope].add(place[1:])
        assert all(len(ops) == 1 for ops in in_one_scope.values()), (title, places)


def captions_speak_no_implementation(program: Run) -> None:
    for frame in program.picture.frames:
        caption = frame["caption"]
        plain = re.sub(r"\.grad (is|are) None: no gradient reaches", "", caption)
        assert not re.search(r"\bv\d+\b|_bar\b|\b_\w+\(|\w+_backward\(|None|saved_tensors", plain)
        assert not re.search(r"\bbackward (data )?(makes|releases|for)|native|result\d", caption)


def nothing_was_made_before_the_recording(program: Run) -> None:
    data, names = program.data, program.names
    for node in program.nodes:
        rows = dict(facts(data, [node["id"]], names))
        assert rows.get("made") != "before the recording", names.name(node["id"])
        assert node["where"] is not None or "in" not in rows


def in_one_pass_no_two_nodes_are_called_alike(program: Run) -> None:
    called: set[str] = set()
    for frame in program.picture.frames:
        if frame["kind"] == "backward":
            called.clear()
        if next_one := re.match(r"Next comes (.*): its gradient", frame["caption"]):
            assert next_one[1] not in called, frame["caption"]
            called.add(next_one[1])


def nothing_is_said_to_be_unseen(program: Run) -> None:
    unseen = [f["caption"] for f in program.picture.frames if "could not see" in f["caption"]]
    assert bool(unseen) == ("Thread" in program.source), unseen


def hooks_are_those_of_the_program(program: Run) -> None:
    for frame in program.picture.frames:
        assert "hook" not in frame["caption"] or "hook" in program.source, frame["caption"]


def what_switches_gradients_off_is_in_the_program(program: Run) -> None:
    for frame in program.picture.frames:
        if switch := re.search(r"here: (.*) switches gradients off", frame["caption"]):
            assert set(switch[1].split(" or ")) <= set(WORD.findall(program.source))


# -- rounds ------------------------------------------------------------------------------------


def iterations_are_those_that_the_program_counts(program: Run) -> None:
    scopes = program.recording.scopes
    for node in program.nodes:
        counted = [i["value"] for i in node["inputs"] if "value" in i]
        counted = [int(v) for v in counted if isinstance(v, int | float) and v >= 1000]
        if not counted or not re.search(r"1000", node["text"]):
            continue
        path: list[int] = []
        scope = scopes[node["scope"]]
        while scope["parent"] is not None:
            if scope["kind"] == "iteration":
                path.insert(0, scope["index"] + 1)
            scope = scopes[scope["parent"]]
        digits = [int(d) for d in str(counted[0] - 1000)]
        assert path[-len(digits) :] == digits, node["text"]


def a_round_begins_with_its_first_step(program: Run) -> None:
    if any(box.kind == "fold" for box in program.picture.outline.boxes):
        return
    scopes, events = program.recording.scopes, program.recording.events
    data = program.data
    frames, moments = tell(data, program.picture.outline, program.names)
    begun: set[int] = set()
    for frame, moment in zip(frames, moments, strict=True):
        event = events[moment]
        scope = event.get("scope")
        if event["kind"] in ("leaf", "op"):
            scope = program.nodes[event["node"]]["scope"]
        rounds = []
        while scope is not None:
            rounds += [scopes[scope]] if scopes[scope]["kind"] == "iteration" else []
            scope = scopes[scope]["parent"]
        new = [r for r in rounds if r["id"] not in begun]
        caption = re.sub(r"^Call \d+ of [\w.]+\. (?=Iteration)", "", frame["caption"])
        assert caption.startswith("Iteration ") == bool(new), caption
        if new:
            assert caption.startswith(f"Iteration {new[0]['index'] + 1}")
        begun |= {r["id"] for r in new}


def calls_are_no_more_than_the_program_makes(program: Run) -> None:
    numbered: dict[str, set[int]] = defaultdict(set)
    for scope in program.recording.scopes:
        if scope["kind"] == "call" and scope["name"] != "backward":
            numbered[scope["name"]].add(scope["index"])
    if not numbered:
        return
    frames: dict[str, set[Any]] = defaultdict(set)  # held, so that each is another one

    def called(frame: Any, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code.co_filename == "again":
            name = frame.f_code.co_qualname.rpartition("<locals>.")[2]
            name = re.sub(r"<\w+(comp|expr)>\.", "", name).strip("<>")
            frames[name].add(frame)

    code = compile(program.source, "again", "exec")
    sys.setprofile(called)
    try:
        with contextlib.suppress(RuntimeError):
            exec(code, {"torch": program.torch})
    finally:
        sys.setprofile(None)
    for name, calls in numbered.items():
        assert len(calls) <= len(frames[name]), name


# -- boxes -------------------------------------------------------------------------------------


def brackets_are_those_of_the_source(program: Run) -> None:
    for text in program.picture.texts:
        at = text["symbol"].removesuffix(" =")
        if at.startswith("["):
            written = re.sub(r"(?<=[^\W\d])\d+", "", at)  # `y1` is a y of the learner's
            is_written = at in program.source or written in program.source
            assert is_written or re.fullmatch(r"\[(:, )*-?\d*(:\d*)*\]|\[\([\d, ]*\)\]", at), at


def parentheses_are_not_doubled(program: Run) -> None:
    names = program.names
    for node in program.nodes:
        title = names.title(node["id"])
        assert "…" in title or not re.search(r"(?<![\w)\]])\(\(([^()]*)\)\)", title), title


# -- the graph ---------------------------------------------------------------------------------


def of_run(node: Any, known: dict[Any, Any]) -> Any:
    """Return the graph behind a node of the run as nested tuples, equal parts being one object."""
    if node is None:
        return None
    if node not in known:
        # The kit's engine goes along edges(); next_functions passes over what PyTorch has not.
        edges = node.edges() if hasattr(node, "edges") else ()
        # An edge leads to one of a node's outputs.
        following = [getattr(n, "whole", n) for _, n in edges if getattr(n, "shown", n)]
        following = following or [n for n, _ in node.next_functions]
        inner = [of_run(n, known) for n in following if n is not None]
        name = node.name().rsplit("::", 1)[-1]
        key = (name, tuple(sorted(map(id, inner))))
        known[node] = known.setdefault(key, key)
        known["kept"] = (*known.get("kept", ()), inner)
    return known[node]


def shape_of(run: Run, number: int, known: dict[Any, Any], memo: dict[int, Any]) -> Any:
    """Return the same for a node of the recording."""
    if number not in memo:
        node = run.nodes[number]
        if node["kind"] == "leaf":
            key = ("AccumulateGrad", ())
        else:
            group = [n for n in run.nodes if n["id"] == number]
            inner = [
                shape_of(run, i["node"], known, memo)
                for i in group[0]["inputs"]
                if "node" in i and run.names.flow.is_open(number, i["node"])
            ]
            key = (node["grad_fn"].rsplit("::", 1)[-1], tuple(sorted(map(id, inner))))
        memo[number] = known.setdefault(key, key)
    return memo[number]


def the_graph_is_that_of_grad_fn(program: Run) -> None:
    out, node = program.space.get("out"), program.named("out")
    is_unseen = any(n["kind"] == "leaf" and n["grad_fn"] for n in program.nodes)  # in a thread
    if node is None or getattr(out, "grad_fn", None) is None or is_unseen:
        return
    known: dict[Any, Any] = {}

    assert shape_of(program, node["id"], known, {}) == of_run(out.grad_fn, known)


# -- gradients ---------------------------------------------------------------------------------


def flat(value: dict[str, Any]) -> np.ndarray:
    return np.array([float(x) for x in value["data"]])


def contributions_add_up_to_what_arrives(program: Run) -> None:
    waiting: dict[int, Any] = {}
    for event in program.recording.events:
        match event["kind"]:
            case "backward":
                waiting = {
                    root: flat(seed)
                    for root, seed in zip(event["roots"], event["seed"], strict=True)
                }
            case "contribution":
                to = event["to"]
                waiting[to] = waiting.get(to, 0) + flat(event["after"])
                if event["total"] is not None:
                    np.testing.assert_allclose(flat(event["total"]), waiting[to], 1e-4)
            case "accumulate" if "hook" not in program.name and event["before"] is not None:
                total = flat(event["before"]) + flat(event["g"])
                np.testing.assert_allclose(flat(event["grad"]), total, 1e-4)
            case "visit" if "hook" not in program.name:
                np.testing.assert_allclose(flat(event["g"]), waiting[event["node"]], 1e-4)


def the_last_grad_told_is_the_grad(program: Run) -> None:
    last = {
        e["node"]: e["grad"]
        for e in program.recording.events
        if e["kind"] in ("accumulate", "grad")
    }
    for number, grad in last.items():
        tensor = held_as(program, called_at_last(program, number))
        if tensor is None:
            continue
        box = program.picture.outline.box_of[number]
        fields = program.picture.state(-1)["nodes"][box.id]
        if tensor.grad is None:
            assert grad is None
            assert box.kind == "fold" or (fields.get("grad"), fields.get("g")) == (None, None)
        else:
            assert tensor.grad.detach().numpy().ravel().tolist() == pytest.approx(
                flat(grad), rel=1e-4
            )
            assert box.kind == "fold" or (fields.get("grad") or fields.get("g")) is not None


def a_grad_that_is_told_to_be_none_is_none(program: Run) -> None:
    last = program.picture.state(-1)["nodes"]
    for box in program.picture.outline.boxes:
        if last[box.id].get("grad") == "None":
            tensor = held_as(program, called_at_last(program, box.nodes[0]))
            assert tensor is None or (tensor.is_leaf and tensor.grad is None)


def called_at_last(program: Run, number: int) -> str:
    """Return what the code calls a tensor in the end: ``b``, after ``a, b = b, a``."""
    scope, name = program.nodes[number]["scope"], program.nodes[number]["name"] or ""
    for node in program.nodes:
        for source in node["inputs"]:
            if source.get("node") == number and node["scope"] == scope:
                name = source.get("variable", "") or program.nodes[number]["name"] or ""
    return name


def held_as(program: Run, name: str) -> Any:
    """Return the tensor that a variable, or a module in one, holds under a name; None if none."""
    holder, *path = name.split(".")
    tensor = program.space.get(holder)
    for part in path:
        tensor = getattr(tensor, part, None)
    if isinstance(tensor, program.torch.Tensor):
        with contextlib.suppress(RuntimeError):  # a view that may no longer be used
            return tensor if tensor.is_leaf or tensor.retains_grad else None
    return None


def the_last_value_told_is_the_value(program: Run) -> None:
    values = {node["id"]: node["value"] for node in program.nodes}
    shared: dict[int, set[int]] = {}
    for event in program.recording.events:
        if event["kind"] == "modified":
            sharing = shared.setdefault(event.get("storage", -1), set())
            sharing -= {*sharing} if "storage" not in event else {*event["left"]}
            sharing |= {*event.get("joined", [event["node"]])}
            values |= dict.fromkeys(sharing, event["value"])
    for name in program.space:
        tensor, node = held_as(program, name), program.named(name)
        if tensor is None or node is None or node["kind"] != "leaf" or "grad" in name:
            continue
        if called_at_last(program, node["id"]) not in (name, node["name"]):
            continue  # swapped
        if "stats" not in values[node["id"]] and not re.search(rf"{name}\d+$", node["name"]):
            numbers = flat(values[node["id"]])
            assert tensor.detach().numpy().ravel().tolist() == pytest.approx(numbers, rel=1e-4)


def a_rule_says_that_it_is_summed_if_it_is(program: Run) -> None:
    data = program.data
    names = program.names
    for event in program.recording.events:
        if event["kind"] != "contribution" or program.nodes[event["node"]]["kind"] == "leaf":
            continue
        rows = dict(facts(data, [event["node"]], names))
        left = names.gradient(event["to"]) + " += "
        lines = [line for line in rows.get("rules", "").split("\n") if line.startswith(left)]
        if len(lines) == 1 and not re.search(r"what \S+ computes", lines[0]):
            assert ("summed over" in lines[0]) == (event["before"] is not None), lines


LEFT = re.compile(
    r"(?:[\d\[\]()+\-*\u00d7/@,. ]|e[+-](?=\d)|inf"
    r"|(?:sin|cos|exp|log|sqrt|tanh|sigmoid|abs|sign)(?=\())*$"
)
RIGHT = re.compile(r"(-?[\d.]+(?:e[+-]\d+)?|\[[-\d., e\[\]]*\])(?=[.,;: ]|$)")


def equations(caption: str) -> list[tuple[str, str]]:
    """Return what a caption says is equal, as far as it is made of numbers."""
    pairs = []
    for equals in re.finditer(" = ", caption):
        right, left = RIGHT.match(caption, equals.end()), LEFT.search(caption[: equals.start()])
        text = left[0].strip(" ,:") if left else ""
        before = caption[: left.start()] if left else ""
        if (
            right
            and re.search(r"[-+*\u00d7/@]", text.lstrip("-"))
            and (not before or before[-1] == " " or re.search(r"(gives|up:|becomes)$", before))
        ):
            number = right[1].rstrip(".") if right[1].count(".") > 1 else right[1]
            pairs.append((text, number))
    return pairs


def later_of(program: Run, read: Any) -> list[Any]:
    """Return a node, and those that were written over it in place, one after the other."""
    chain = [read]
    changes = [e["node"] for e in program.recording.events if e["kind"] == "modified"]
    for node in program.nodes:
        first = next((i["node"] for i in node["inputs"] if "node" in i), None)
        if first == chain[-1]["id"] and node["id"] in changes:
            chain.append(node)
    return chain


def a_gradient_that_is_read_is_the_gradient_of_its_leaf(program: Run) -> None:
    names = program.names
    reads = [n for n in program.nodes if n.get("part") == "gradient from backward"]
    for read in reads:
        box = program.picture.outline.box_of[read["id"]]
        leaf = names.name(read["id"]).removesuffix(".grad")
        holders = [n for n in program.nodes if names.name(n["id"]) == leaf]
        if box.kind == "fold" or len(holders) != 1 or "+=" in program.source:
            continue
        holder = program.picture.outline.box_of[holders[0]["id"]].id
        for step, frame in enumerate(program.picture.frames):
            if frame["kind"] == "accumulate" and frame["node"] == holder:
                nodes = program.picture.state(step)["nodes"]
                if nodes[box.id]["hidden"] or not nodes[box.id].get("tensor"):
                    continue
                numbers = (n["id"] for n in later_of(program, read))
                boxes = {program.picture.outline.box_of[n].id for n in numbers}
                texts = [nodes[b]["tensor"] for b in boxes if not nodes[b]["hidden"]]
                now = [text for text in texts if "overwritten" not in text]
                assert now == [nodes[holder]["gradient"]], frame["caption"]
        steps = [f for f in program.picture.frames if f["node"] == box.id and f["kind"] == "leaf"]
        assert all("It has no history" in f["caption"] for f in steps)
        assert all(f["where"] is None or source_at(program, f["where"]) for f in steps)


def no_rule_reads_or_fills_the_grad_of_what_is_no_leaf(program: Run) -> None:
    data = program.data
    names = program.names
    results = {names.name(n["id"]) for n in program.nodes if n["kind"] == "op"}
    results -= {names.name(n["id"]) for n in program.nodes if n["kind"] == "leaf"}
    texts = [f["caption"] for f in program.picture.frames if f["kind"] == "contribution"]
    fields = (fields for frame in program.picture.frames for fields in frame["set"].values())
    texts += [line for box in fields for line in box.get("rule") or ()]
    texts += [dict(facts(data, [n["id"]], names)).get("rules", "") for n in program.nodes]
    for text in texts:
        for name in results:
            for written in (f"{name}.grad", f"({name}).grad"):
                is_own = written.strip("()") in program.source
                assert is_own or not re.search(rf"(?<![\w.]){re.escape(written)}\b", text), text


def no_two_boxes_have_the_same_words(program: Run) -> None:
    nodes = program.picture.payload()["nodes"].values()
    alike = Counter(box["title"] for box in nodes)
    assert max(alike.values(), default=1) == 1, [t for t, count in alike.items() if count > 1]


def what_is_called_an_output_is_that_of_a_module(program: Run) -> None:
    modules = {s["name"] for s in program.recording.scopes if s["kind"] == "module"}
    names = program.names
    for node in program.nodes:
        if (name := names.name(node["id"])).endswith("'s output"):
            assert name.removesuffix("'s output") in modules


def the_number_in_a_name_is_explained(program: Run) -> None:
    captions = " ".join(f["caption"] for f in program.picture.frames)
    boxes = program.picture.payload()["nodes"]
    for box in program.picture.outline.boxes:
        record = program.nodes[box.nodes[0]]
        if "variable" in record and box.kind != "fold":
            assert f"the code calls {record['variable']}." in boxes[box.id]["what"]
            assert record["name"] not in program.space  # the learner has no such variable
    for variable in re.findall(r"the code calls ([\w.\[\]]+)\.", captions):
        owner = re.match(r"\w+", variable)
        assert owner and re.search(rf"(?<!\w){owner[0]}\b", program.source), variable


def plain_numbers_that_an_op_reads_are_told(program: Run) -> None:
    boxes = {box.id: box for box in program.picture.outline.boxes}
    words = set(re.findall(r"\w+", program.source))
    last: dict[str, Any] = {}
    for frame in program.picture.frames:
        if frame["kind"] != "op" or boxes[frame["node"]].kind == "fold":
            continue
        record = program.nodes[boxes[frame["node"]].nodes[0]]
        assert words.issuperset(re.findall(r"\bHere, ([^\W\d]\w*) is -?\d", frame["caption"]))
        numbers = [i["value"] for i in record["inputs"] if "value" in i]
        with contextlib.suppress(SyntaxError):
            match ast.parse(record["text"] or "0", mode="eval").body:
                case ast.BinOp(right=ast.Name(id=name)) if len(numbers) == 1 and name in (
                    "i", "k", "n", "lr", "scale", "step"
                ):  # fmt: skip
                    value = f"{numbers[0]:g}"
                    match = re.search(rf"\b{name} is (-?[\d.e-]+\d|\d)", frame["caption"])
                    if match:
                        last[name] = match[1]
                    is_number = record["inputs"][-1].get("value") == numbers[0]
                    assert not is_number or float(last.get(name, "nan")) == pytest.approx(
                        float(value)
                    ), frame["caption"]


def numbers_that_were_changed_are_shown(program: Run) -> None:
    for frame in program.picture.frames:
        for fields in frame["set"].values():
            assert ("value" in fields) == ("tensor" in fields)
            if "tensor" in fields:
                assert not fields["tensor"].startswith("("), fields  # a shape is no value


def the_arithmetic_in_captions_is_true(program: Run) -> None:
    space = {"sigmoid": lambda x: 1 / (1 + np.exp(-x))}
    space |= {
        f: getattr(np, f) for f in ("sin", "cos", "exp", "log", "sqrt", "tanh", "abs", "sign")
    }
    for frame in program.picture.frames:
        for left, right in equations(frame["caption"]):
            left, right = left.replace(TIMES, "*"), right.replace(TIMES, "*")
            sides = [re.sub(r"(\[[-\d., e\[\]]*\])", r"array(\1)", s) for s in (left, right)]
            with np.errstate(all="ignore"):
                a, b = (np.asarray(eval(s, {"array": np.array, **space})) for s in sides)
            np.testing.assert_allclose(a, b, 2e-3, 2e-3, err_msg=frame["caption"])


def marks(program: Run, step: int) -> dict[str, Any]:
    """Return what each arrow says at a step."""
    edges = program.picture.state(step)["edges"]
    return {name: fields for name, fields in edges.items() if fields.get("sent")}


def what_arrows_multiply_is_true(program: Run) -> None:
    for step, frame in enumerate(program.picture.frames):
        for name in frame.get("along", ()):
            mark = marks(program, step).get(name)
            if mark and f" {TIMES} " in mark["sent"]:
                assert mark["sent"].split(" = ")[1] == mark["arrived"]
                left, right = mark["sent"].split(" = ")
                g, slope = left.split(f" {TIMES} ")
                slope = slope.strip("()")
                assert mark["slope"].endswith(f" = {slope}")
                with np.errstate(all="ignore"):
                    np.testing.assert_allclose(float(g) * float(slope), float(right), 2e-3, 2e-3)


def parts_in_slots_add_up(program: Run) -> None:
    picture = program.picture
    for step in range(len(picture.frames)):
        state = picture.state(step)
        for box, slots in picture.slots.items():
            total = state["nodes"][box].get("total")
            arrived = [state["edges"][edge].get("arrived") for edge in slots]
            if total and None not in arrived:
                before, first = re.fullmatch(
                    r"(?:\+ (\S+) before )?= (\S+)(?: → .*|, .*)?", total
                ).groups()
                together = sum(map(float, arrived)) + float(before or 0)
                assert together == pytest.approx(float(first), 2e-3, 2e-3), total


NUMBERS = re.compile(r"[-\[\]\d., e+]+|-?inf")


def as_numbers(text: str) -> Any:
    """Return what a text says in numbers; None if it is a shape, or too large to be written."""
    is_complete = NUMBERS.fullmatch(text) and "..." not in text
    return np.asarray(eval(text, {"inf": np.inf})) if is_complete else None


def the_rows_of_why_add_up_to_the_gradient_that_is_shown(program: Run) -> None:
    for step, frame in enumerate(program.picture.frames):
        state = program.picture.state(step)
        for box in program.picture.outline.boxes:
            fields = state["nodes"][box.id]
            gradient = fields.get("grad") if fields.get("g") is None else fields["g"]
            rows = fields.get("why") or []
            if box.kind == "fold" or len(box.nodes) > 1:
                continue
            assert rows or frame["kind"] != "accumulate" or frame["node"] != box.id
            assert not rows or gradient is not None, (step, frame["caption"])
            texts = [
                row[1] if isinstance(row, list) else state["edges"][row]["arrived"] for row in rows
            ]
            numbers = [as_numbers(text) for text in texts]
            if rows and all(n is not None for n in numbers):
                is_sum = isinstance(rows[-1], list) and rows[-1][0] == "sum"
                assert is_sum == (len(rows) > 1)
                parts = numbers[:-1] if is_sum else numbers
                whole = as_numbers(re.sub(r"\s+", " ", fields["gradient"]))
                for total in (whole, numbers[-1]):
                    np.testing.assert_allclose(sum(parts), total, 2e-3, 2e-3, err_msg=str(rows))


def a_label_says_grad_only_where_the_grad_is_what_is_shown(program: Run) -> None:
    grads: dict[str, Any] = {}
    for frame in program.picture.frames:
        for box, fields in frame["set"].items():
            grads.setdefault(box, {}).update(fields)
            if fields.get("grad") is not None:
                assert grads[box].get("g") is None, frame["caption"]  # else the box shows that
            assert "waiting" not in str(fields.get("g"))


def leads_to(program: Run, older: int, younger: int) -> bool:
    user = program.nodes[younger]
    inputs = [i["node"] for i in user["inputs"] if "node" in i and user["recorded"]]
    return older == younger or any(n >= older and leads_to(program, older, n) for n in inputs)


def a_slope_is_called_dy_by_dx_only_if_one_way_leads_from_x_to_y(program: Run) -> None:
    edges = {edge.id: key for key, edge in program.picture.outline.edge_at.items()}
    names = program.names
    for frame in program.picture.frames:
        for name, mark in frame.get("along", {}).items():
            if name in edges and re.match(r"d.+/d", mark.get("slope") or ""):  # else it is the rule
                node, place = edges[name]
                inputs = [i.get("node") for i in program.nodes[node]["inputs"]]
                ways = [i for i in inputs if i is not None and leads_to(program, inputs[place], i)]
                whole = slope_text(names.name(node), names.name(inputs[place]))
                assert mark["slope"].startswith(f"{whole} = ") == (len(ways) <= 1), mark["slope"]


# -- memory ------------------------------------------------------------------------------------


def sources(indices: Any) -> tuple[Any, ...]:
    return tuple(getattr(indices, "sources", ()))


def really_saved(node: Any, torch: Any) -> int:
    """Return the bytes of the arrays that a node of the run keeps, each counted once."""
    if torch is ak:
        read = zip(node.op.rest, node.rest, strict=False)  # else it is only there to be checked
        values = [*node.saved().values(), *(value for _, value in read)]
        parts = [p for v in values for p in (*(v if isinstance(v, tuple) else [v]), *sources(v))]
        arrays = [p for p in parts if isinstance(p, np.ndarray | np.generic)]
        # Of a number, which has no memory to look into, the object; else where it begins.
        return sum(
            size
            for _, size in {
                (p.ctypes.data if isinstance(p, np.ndarray) else id(p), int(p.nbytes))
                for p in arrays
            }
        )
    values = set()
    for name in dir(node):
        if name.startswith("_saved_") and "_sym_" not in name:
            value = getattr(node, name)
            for t in value if isinstance(value, tuple | list) else (value,):
                if isinstance(t, torch.Tensor):
                    values.add((t.data_ptr(), t.nbytes))
    return sum(size for _, size in values)


def what_is_told_as_saved_is_what_is_kept(program: Run) -> None:
    out, last = program.space.get("out"), program.named("out")
    if last is None or out.grad_fn is None or re.search("hook|checkpoint|class", program.source):
        return
    pairs, visited = [(out.grad_fn, last["id"])], set()
    while pairs:
        node, number = pairs.pop()
        entry = program.nodes[number]
        if number in visited or entry["kind"] == "leaf":
            continue
        visited.add(number)
        constant = {i["arg"] for i in entry["inputs"] if "value" in i}
        if entry.get("part_of") is None and not constant and entry["op"] != "copy_slices":
            total = sum(s["bytes"] for s in entry["saved"])
            assert total == really_saved(node, program.torch), (entry["text"], entry["saved"])
        inner = [n for n, _ in node.next_functions if n is not None]
        known = [i["node"] for i in entry["inputs"] if "node" in i]
        known = [n for n in known if program.nodes[n]["recorded"]]
        if len(inner) == len(known):
            pairs += zip(inner, known, strict=True)


def bytes_are_the_same_wherever_they_are_told(program: Run) -> None:
    data = program.data
    names = program.names
    freed = {e["node"]: e["bytes"] for e in program.recording.events if e["kind"] == "release"}
    for node in program.nodes:
        total = sum(s["bytes"] for s in node["saved"])
        assert freed.get(node["id"], total) == total
        row = dict(facts(data, [node["id"]], names)).get("saved", "")
        if "kB" not in row:
            assert sum(map(int, re.findall(r"\((\d+) bytes?\)", row))) == total, row


def a_step_that_releases_says_nothing_of_bytes_that_others_may_keep(program: Run) -> None:
    for frame in program.picture.frames:
        assert not re.search(r"releases|\d bytes?\b|kB", frame["caption"]), frame["caption"]


def what_a_rule_is_told_to_read_was_saved(program: Run) -> None:
    senders = {e["node"] for e in program.recording.events if e["kind"] == "contribution"}
    for node in program.nodes:
        if node["id"] not in senders or node["op"] is None or "part_of" in node:
            continue
        saved = {entry["name"] for entry in node["saved"]}
        tensors = {i["arg"] for i in node["inputs"] if "node" in i} | {"out"}
        flow = program.names.flow
        inputs = [i for i in node["inputs"] if "node" in i and flow.is_open(node["id"], i["node"])]
        for source in inputs:
            rule = rule_of(program.recording.ops, node, source["arg"])
            tree = rule and parsed(decided(rule["text"], decisions(node)))
            parts = ast.walk(tree) if tree else ()
            read = {part.id for part in parts if isinstance(part, ast.Name)} & tensors
            assert read <= saved, (node["text"], rule)


def what_was_released_is_not_listed_as_saved_any_more(program: Run) -> None:
    released = {
        e["node"]
        for e in program.recording.events
        if e["kind"] == "release" and program.nodes[e["node"]]["saved"]
    }
    boxes = program.picture.state(-1)["nodes"] if program.picture.frames else {}
    for number in released:
        box = program.picture.outline.box_of[number]
        assert box.kind == "fold" or boxes[box.id].get("released"), number  # a fold lists nothing


CHECKS = [
    each_part_can_be_folded,
    nothing_went_wrong_in_the_recorder,
    it_reads_from_json_as_it_was_written,
    the_source_that_is_lit_is_the_expression_that_ran,
    every_name_is_one_that_the_learner_wrote,
    a_title_is_the_learners_expression,
    a_box_is_called_like_no_other_with_another_expression,
    captions_speak_no_implementation,
    nothing_was_made_before_the_recording,
    in_one_pass_no_two_nodes_are_called_alike,
    nothing_is_said_to_be_unseen,
    hooks_are_those_of_the_program,
    what_switches_gradients_off_is_in_the_program,
    iterations_are_those_that_the_program_counts,
    the_graph_is_that_of_grad_fn,
    contributions_add_up_to_what_arrives,
    the_last_grad_told_is_the_grad,
    a_grad_that_is_told_to_be_none_is_none,
    the_last_value_told_is_the_value,
    a_rule_says_that_it_is_summed_if_it_is,
    a_round_begins_with_its_first_step,
    calls_are_no_more_than_the_program_makes,
    brackets_are_those_of_the_source,
    parentheses_are_not_doubled,
    the_arithmetic_in_captions_is_true,
    what_arrows_multiply_is_true,
    parts_in_slots_add_up,
    the_rows_of_why_add_up_to_the_gradient_that_is_shown,
    a_label_says_grad_only_where_the_grad_is_what_is_shown,
    a_slope_is_called_dy_by_dx_only_if_one_way_leads_from_x_to_y,
    bytes_are_the_same_wherever_they_are_told,
    a_step_that_releases_says_nothing_of_bytes_that_others_may_keep,
    a_gradient_that_is_read_is_the_gradient_of_its_leaf,
    no_rule_reads_or_fills_the_grad_of_what_is_no_leaf,
    no_two_boxes_have_the_same_words,
    what_is_called_an_output_is_that_of_a_module,
    the_number_in_a_name_is_explained,
    plain_numbers_that_an_op_reads_are_told,
    numbers_that_were_changed_are_shown,
    what_was_released_is_not_listed_as_saved_any_more,
    what_a_rule_is_told_to_read_was_saved,
]


@pytest.mark.parametrize("check", CHECKS, ids=[check.__name__ for check in CHECKS])
def test_of_every_program(check: Any, programs: list[Run]) -> None:
    wrong = {}
    for program in programs:
        try:
            check(program)
        except Exception as error:
            wrong[program.name] = f"{type(error).__name__}: {error}"[:400]
    assert wrong == {}


def test_what_is_told_as_saved_is_what_is_kept(before_backward: list[Run]) -> None:
    wrong = {}
    for program in before_backward:
        try:
            what_is_told_as_saved_is_what_is_kept(program)
        except Exception as error:
            wrong[program.name] = f"{type(error).__name__}: {error}"[:400]
    assert len(before_backward) > 15
    assert wrong == {}


BEFORE = """
import copy
w = torch.tensor([2.0], requires_grad=True)
batch = {"x": torch.ones(1)}
layer = torch.nn.Linear(1, 1)
hidden = w * 3
def block(v):
    return v * w + layer(hidden)
"""
SINCE = """
x = torch.Tensor([3.0])
twin = copy.deepcopy(w)
new = torch.nn.Linear(1, 1)
for i in range(2):
    out = new(block(x) * batch["x"] * twin).sum()
"""


@pytest.mark.parametrize("library", LIBRARIES)
def test_what_was_there_before_the_recording_is_told_so_and_nothing_else(library: str) -> None:
    torch = ak if library == "kit" else require_torch()
    space = {"torch": torch}
    exec(BEFORE, space)

    program = run("before", torch, SINCE, space)

    data = program.data
    names = program.names
    facts_by_name = {n["name"]: dict(facts(data, [n["id"]], names)) for n in program.nodes}
    older = {
        name for name, rows in facts_by_name.items() if rows.get("made") == "before the recording"
    }
    assert older == {"w", 'batch["x"]', "hidden", "layer.weight", "layer.bias"}
    assert not any("in" in facts_by_name[name] for name in older)
    assert facts_by_name["out2"]["in"] == "iteration 2 of for i in range(2)"


# What is told of a part that no line of the learner's writes by itself.
TITLES = {
    "Python's sum of a list": ["zs[0]", "0 + zs[0]", "0 + zs[0] + zs[1]", "out = sum(zs)"],
    "a recurrent layer with several results": [
        "output = lstm(torch.ones(2, 1, 2))[0]",
        "h = lstm(torch.ones(2, 1, 2))[1][0]",
        "c = lstm(torch.ones(2, 1, 2))[1][1]",
    ],
    "a gated recurrent cell": ["h2 = cell(torch.ones(1, 2), h)", "out = h3.sum()"],
    "a dictionary comprehension of weights": ['w["a"] * x', 'out = w["a"] * x + w["b"]'],
    "entries of a dictionary that change": ['cache["y"] = cache["y"] + cache["x"]'],
    "a gradient's graph through cross entropy": ["-1. * one_hot(target) / len(target)", "g ** 2"],
}


@pytest.mark.parametrize("name", TITLES)
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_part_of_a_call_is_told_in_the_learners_words(library: str, name: str) -> None:
    program = run(name, ak if library == "kit" else require_torch())

    names = program.names
    titles = [names.title(node["id"]) for node in program.nodes]
    assert set(TITLES[name]) <= set(titles)
    assert len(titles) < 100


@pytest.mark.parametrize("library", LIBRARIES)
def test_parts_of_one_tensor_are_told_apart(library: str) -> None:
    program = run("a gated recurrent cell", ak if library == "kit" else require_torch())

    names = program.names
    parts = [n["id"] for n in program.nodes if n["op"] == "unsafe_split"][:6]
    assert [names.title(n)[-3:] for n in parts] == ["[0]", "[1]", "[2]"] * 2


def test_a_copy_that_a_node_saves_is_no_op_of_the_learners() -> None:
    program = run("a gated recurrent cell", require_torch())

    assert not [n for n in program.nodes if n["op"] in ("clone", "contiguous")]


def test_weights_of_a_layer_that_only_pytorch_has_stand_where_they_belong() -> None:
    program = run("a normalized layer", require_torch())

    (layer,) = (n for n in program.nodes if n["op"] == "native_layer_norm")
    names = {i["arg"]: program.nodes[i["node"]]["name"] for i in layer["inputs"]}
    assert names == {"input": "x", "weight": "norm.weight", "bias": "norm.bias"}


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_parameter_is_filled_without_a_record_because_of_no_grad(library: str) -> None:
    program = run("parameters filled under no_grad", ak if library == "kit" else require_torch())

    (caption,) = (f["caption"] for f in program.picture.frames if "fill makes" in f["caption"])
    assert caption.endswith("Nothing is recorded here: no_grad switches gradients off.")


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_normalized_batch_saves_what_its_rules_read_and_no_stand_ins(library: str) -> None:
    program = run("a batch that is normalized", ak if library == "kit" else require_torch())

    (caption,) = (f["caption"] for f in program.picture.frames if "norm makes" in f["caption"])
    assert "the means" in caption and "1 / the standard deviations" in caption
    assert "the number" not in caption
