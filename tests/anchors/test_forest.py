"""What is looked up across the files of a pin."""

from __future__ import annotations

from track.anchors import symbols
from track.anchors.forest import Forest, key

FILES = {
    "m.py": "import a\n\n\nclass A:\n  size = 1\n\n  def f(self):\n    return self.size\n",
    "n.py": "def f(self):\n  return self.size\n\n\ndef g():\n  import a\n  return self.size\n",
}


def forest() -> Forest:
    return Forest({path: symbols.parse(path, text) for path, text in FILES.items()})


def test_every_symbol_is_known_by_path_and_selector():
    found = forest().symbols
    assert list(found) == [("m.py", "A"), ("m.py", "A.size"), ("m.py", "A.f"), ("n.py", "f"), ("n.py", "g")]
    assert all(key(forest().modules[path], symbol) == (path, name) for (path, name), symbol in found.items())


def test_module_level_code_has_no_selector():
    assert key(forest().modules["m.py"], None) == ("m.py", "")


def test_bodies_are_alike_where_only_the_name_or_place_differs():
    bodies = forest().bodies
    assert bodies["m.py", "A.f"] == bodies["n.py", "f"] != bodies["n.py", "g"]


def test_the_statements_of_a_symbol_are_its_own_lines():
    lines = [s.span.first for s in forest().statements(("m.py", "A"))]
    assert lines == [4, 5, 7, 8]
    assert [s.span.first for s in forest().statements(("n.py", ""))] == [1, 2, 5, 6, 7]


def test_a_definition_weighs_what_its_statements_weigh():
    found = forest()
    assert found.weights["m.py", "A"] > found.weights["m.py", "A.f"] > found.weights["m.py", "A.size"] > 1


def test_a_run_of_statements_is_found_in_every_file():
    found = forest()
    header, body = (s.fingerprint for s in found.statements(("n.py", "f")))
    assert list(found.occurrences((header, body))) == [("m.py", 3), ("n.py", 0)]
    assert list(found.occurrences((body,))) == [("m.py", 4), ("n.py", 1), ("n.py", 4)]
    assert list(found.occurrences((body, header))) == []
    assert list(found.occurrences(())) == []
