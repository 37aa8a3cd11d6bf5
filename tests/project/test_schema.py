"""The published schema is the one the classes make, and the course is written in it."""

import json
import re
from functools import cache
from pathlib import Path

import jsonschema
import pytest

from tests.cases import for_each
from tutor.pack import built_in, schema
from tutor.pack.struct_reader import plain
from tutor.pack.yaml_nodes import read


@cache
def validator(name: str) -> jsonschema.Draft202012Validator:
    """Return the validator of a published schema, which is checked itself, once."""
    found = json.loads(schema.texts()[name])
    jsonschema.Draft202012Validator.check_schema(found)
    return jsonschema.Draft202012Validator(found)


LESSONS = sorted(built_in().glob("*/*.yaml"))
REPOSITORY = Path(__file__).parents[2]
OTHERS = sorted(
    path
    for folder in ("tests/packs", "tutor/authoring/new-pack")
    for path in (REPOSITORY / folder).rglob("*.yaml")
    if path.name != "cases.yaml" and "custom-check" not in path.parts
)
"""Lessons and manifests of other packs. The schema knows only jaxtutor's own kinds of checks."""


@for_each("path", LESSONS, ids=lambda path: path.stem)
def test_every_lesson_is_valid_by_the_schema(path: Path):
    node, problems = read(path, path.name)
    assert not problems
    validator("lesson.json").validate(plain(node))


@for_each("path", OTHERS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_other_pack_is_valid_by_the_schema(path: Path):
    node, _ = read(path, path.name)
    name = "pack.json" if path.name == "pack.yaml" else "lesson.json"
    validator(name).validate(plain(node))


@for_each("lang", ["en", "de", "pt-BR", "zh-Hant-TW", "sr-Latn", "es-419", "gsw",
                                  "de-CH-1901", "sl-rozaj-biske", "de-DE-u-co-phonebk",
                                  "en-x-tutor"])  # fmt: skip
def test_language_tags_are_accepted(lang: str):
    pattern = schema.pack_schema()["$defs"]["Manifest"]["properties"]["lang"]["pattern"]
    assert re.search(pattern, lang)


@for_each("lang", ["", "e", "german", "pt_BR", "en-", "de-de-de-de", "en US", "de\n",
                                  "en-x", "\"><script>"])  # fmt: skip
def test_what_is_no_language_tag_is_refused(lang: str):
    pattern = schema.pack_schema()["$defs"]["Manifest"]["properties"]["lang"]["pattern"]
    assert not re.search(pattern, lang)


def test_the_pack_is_valid_by_the_schema():
    node, _ = read(built_in() / "pack.yaml", "pack.yaml")
    validator("pack.json").validate(plain(node))


def test_the_schema_refuses_what_the_loader_refuses():
    node, _ = read(LESSONS[0], "lesson")
    lesson = plain(node)
    for change in (
        {"hnits": []},
        {"minutes": "ten"},
        {"checks": []},
        {"checks": [{"value": "f(x)", "tolerence": 1}]},
        {"limits": {"seconds": 10_000}},
    ):
        with pytest.raises(jsonschema.ValidationError):
            validator("lesson.json").validate({**lesson, **change})


def test_every_field_of_a_check_is_described():
    """Descriptions are what an author's editor shows."""
    definitions = json.loads(schema.texts()["lesson.json"])["$defs"]
    kinds = [entry["$ref"].rpartition("/")[2] for entry in definitions["Check"]["anyOf"]]
    for kind in kinds:
        for name, field in definitions[kind]["properties"].items():
            assert field.get("description") or name in ("steps", "tol", "data"), (kind, name)
