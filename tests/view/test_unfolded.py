"""What a page can open without Python: the pictures it brings are those that Python would draw."""

from functools import cache

from autodiff_kit.view import page
from autodiff_kit.view.payload import deflate
from autodiff_kit.view.scene import Picture, build
from autodiff_kit.view.unfolded import FOLDED, unfolded
from tests.gate import some
from tests.view.programs import residual_net


@cache
def stack() -> Picture:
    return build(residual_net()[1])


@cache
def whole():
    """Return what a page has that has room for all."""
    return part_of_it(10**6)


@cache
def part_of_it(room):
    return unfolded(stack(), room)


def offers(payload):
    return {",".join(map(str, box["opens"])) for box in payload["nodes"].values() if "opens" in box}


def test_each_part_is_drawn_as_python_would_draw_it():
    _, parts = whole()

    for key in some(parts, 12):
        outer, payload = parts[key]
        path = [key]
        while outer:
            path.insert(0, outer)
            outer = parts[outer].outer
        picture = stack()
        for step in path:
            part = list(map(int, step.removeprefix(FOLDED).split(",")))
            picture = picture.closed(part) if step.startswith(FOLDED) else picture.opened(part)
        there = picture.payload()
        assert (payload["svg"], payload["frames"]) == (there["svg"], there["frames"])
        assert [*payload["nodes"]] == [*there["nodes"]]
        assert payload["moments"] == picture.moments


def test_with_room_for_all_every_box_opens_down_to_the_last_module():
    first, parts = whole()

    titles = {part["title"] for _, payload in parts.values() for part in payload["parts"]}
    assert offers(first) == offers(stack().payload())
    assert {f"net.{k}.fc2" for k in range(1, 13)} <= titles


def test_no_box_offers_what_the_page_has_not():
    for room in (0, 12_000, 60_000):
        first, parts = part_of_it(room)

        known = {key.removeprefix(FOLDED) for key in parts}  # what is open at first opens to that
        for payload in (first, *(part.payload for part in parts.values())):
            assert offers(payload) <= known
            for part in payload["parts"]:
                assert part["stays"] == (",".join(map(str, part["key"])) not in known)
        assert sum(len(deflate(part.payload)) for part in parts.values()) <= room


def test_the_outermost_parts_come_first():
    first, parts = part_of_it(60_000)

    outermost = {k for k, part in parts.items() if not part.outer and not k.startswith(FOLDED)}
    assert offers(stack().payload()) == offers(first) == outermost
    assert len(parts) < 20


def test_a_page_with_all_that_it_can_open_stays_small(tmp_path):
    file = page.to_html(stack(), tmp_path / "net.html")

    assert file.stat().st_size < 300_000


def test_writing_a_page_does_not_change_the_picture(tmp_path):
    before = stack().payload()

    page.to_html(stack(), tmp_path / "net.html", title="My net")

    assert stack().payload() == before


def test_what_is_open_at_first_can_be_folded_and_opens_again():
    first, parts = whole()

    assert first["parts"]
    for part in first["parts"]:
        key = ",".join(map(str, part["key"]))
        assert key in offers(parts[FOLDED + key].payload)
