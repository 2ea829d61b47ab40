"""The HTML page: whole, self-contained, and closed to everything but its own script."""

import base64
import hashlib
import json
import os
import re
import zlib
from html.parser import HTMLParser
from pathlib import Path

import pytest

from autodiff_kit.view import page
from autodiff_kit.view.payload import deflate

PAYLOAD = json.loads((Path(__file__).parents[1] / "js" / "payload.json").read_text("utf-8"))


class Reader(HTMLParser):
    """Collects tags with attributes and text, as a browser would see them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None], str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        self.elements.append(("", {}, ""))

    def handle_data(self, data: str) -> None:
        if self.elements:
            tag, attrs, text = self.elements[-1]
            self.elements[-1] = (tag, attrs, text + data)

    def all(self, tag: str) -> list[tuple[dict[str, str | None], str]]:
        return [(attrs, text) for name, attrs, text in self.elements if name == tag]


def written(tmp_path: Path, payload: dict[str, object] = PAYLOAD, **how: str) -> str:
    return page.to_html(payload, tmp_path / "steps.html", **how).read_text("utf-8")


def policy(text: str) -> str:
    [content] = [a["content"] for a, _ in Reader(text).all("meta") if "http-equiv" in a]
    assert content is not None
    return content


def digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_the_payload_in_the_page_is_the_payload_given(tmp_path: Path) -> None:
    scripts = Reader(written(tmp_path)).all("script")

    [data] = [text for attrs, text in scripts if attrs["type"] == "application/octet-stream"]

    assert json.loads(zlib.decompress(base64.b64decode(data))) == PAYLOAD


def test_the_page_names_no_address_on_any_network(tmp_path: Path) -> None:
    text = written(tmp_path).replace("http://www.w3.org/2000/svg", "")  # a name, never fetched

    assert not re.search(r"https?://|//[a-z]+\.[a-z]", text)


def test_the_page_refers_to_no_other_file(tmp_path: Path) -> None:
    attributes = [attrs for _, attrs, _ in Reader(written(tmp_path)).elements]

    assert not [attrs for attrs in attributes if {"src", "href", "srcset", "data"} & attrs.keys()]


def test_the_policy_forbids_everything_but_this_script_and_this_style(tmp_path: Path) -> None:
    text = written(tmp_path)
    [script] = [body for attrs, body in Reader(text).all("script") if attrs["type"] == "module"]
    [(_, style)] = Reader(text).all("style")

    assert policy(text).split("; ")[:3] == [
        "default-src 'none'",
        f"script-src '{digest(script)}'",
        f"style-src '{digest(style)}'",
    ]


def test_a_title_is_escaped_wherever_it_stands(tmp_path: Path) -> None:
    text = written(tmp_path, title="<script>alert('x')</script>")

    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text


def test_a_script_tag_in_the_learners_code_cannot_end_the_payload(tmp_path: Path) -> None:
    evil = {**PAYLOAD, "sources": [{"name": "cell", "lines": ["s = '</script><b>'"]}]}

    assert "</script><b>" not in written(tmp_path, evil)


def test_a_caption_is_escaped_in_the_words_for_readers_without_scripts(tmp_path: Path) -> None:
    frames = [{**PAYLOAD["frames"][0], "caption": "a < b & <i>c</i>."}]

    assert "<li>a &lt; b &amp; &lt;i&gt;c&lt;/i&gt;.</li>" in written(
        tmp_path, {**PAYLOAD, "frames": frames}
    )


def test_without_scripts_every_step_is_told_in_words(tmp_path: Path) -> None:
    text = written(tmp_path)

    still = text[text.index("<noscript>") : text.index("</noscript>")]

    assert still.count("<li>") == len(PAYLOAD["frames"])
    assert PAYLOAD["svg"] in still


def test_the_same_payload_gives_the_same_bytes(tmp_path: Path) -> None:
    assert written(tmp_path) == written(tmp_path)


def test_numbers_that_json_has_no_word_for_are_refused() -> None:
    with pytest.raises(ValueError, match="Out of range"):
        deflate({"width": float("nan")})


def test_half_a_character_in_a_source_does_not_stop_the_page() -> None:
    broken = {"lines": ["s = '\ud800'"]}

    assert json.loads(zlib.decompress(deflate(broken))) == {"lines": ["s = '?'"]}


def test_an_older_page_survives_a_failed_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "steps.html"
    target.write_text("older")

    def full_disk(*_: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space"):
        page.to_html(PAYLOAD, target)

    assert [path.name for path in tmp_path.iterdir()] == ["steps.html"]
    assert target.read_text() == "older"


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        page.to_html(PAYLOAD, tmp_path / "nowhere" / "steps.html")


def test_a_page_can_be_read_by_others_as_any_new_file_can(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()

    page.to_html(PAYLOAD, tmp_path / "steps.html")

    assert (tmp_path / "steps.html").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_the_size_is_that_of_the_viewer_and_little_more(tmp_path: Path) -> None:
    viewer = len(page.script()) + len(page.static("kit.css"))

    assert len(written(tmp_path)) < viewer + 2 * len(PAYLOAD["svg"]) + 8_000
