"""What is offered behind what is typed."""

from pathlib import Path

import pytest

import headgate
from headgate.cli.shell.names import LakeNames
from headgate.cli.shell.suggestions import suggest


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> LakeNames:
    folder: Path = tmp_path_factory.mktemp("lake")
    with headgate.connect(folder) as lake:
        for schema, table, columns in (
            ("sales", "orders", "id BIGINT, sku STRING"),
            ("sales", "stock", "sku STRING, left_over INT"),
            ("shops", "places", "town STRING"),
        ):
            lake.create_schema(schema)
            lake.create_table(f"{schema}.{table}", columns)
        found = LakeNames(lake)
        found.tables(), found.schemas()
        for table in found.tables():
            found.columns(table)
        yield found


def offered(names: LakeNames, before: str) -> list[str]:
    return [found.text for found in suggest(before, names)]


def test_behind_from_stand_schemas_and_tables(names: LakeNames) -> None:
    assert offered(names, "SELECT * FROM s") [:5] == [
        "sales", "shops", "sales.orders", "sales.stock", "shops.places",
    ]  # fmt: skip
    assert offered(names, "select * from sales.o") == ["sales.orders"]


def test_columns_are_those_of_the_tables_that_are_named(names: LakeNames) -> None:
    assert offered(names, "SELECT * FROM sales.stock WHERE le")[0] == "left_over"
    assert "town" not in offered(names, "SELECT * FROM sales.stock WHERE t")
    assert offered(names, "SELECT o.s FROM sales.orders o WHERE o.s") == ["o.sku"]


def test_words_of_sql_are_written_as_they_are_begun(names: LakeNames) -> None:
    assert "CREATE TEMPORARY VIEW" in offered(names, "CR")
    assert "temporary view" in offered(names, "create te")
    assert "WHERE" in offered(names, "SELECT * FROM sales.orders WHE")


def test_a_new_statement_begins_behind_a_semicolon(names: LakeNames) -> None:
    assert offered(names, "SELECT 1; VAC") == ["VACUUM"]


def test_commands_and_the_tables_that_they_take(names: LakeNames) -> None:
    assert offered(names, "\\ti") == ["\\timing"]
    assert offered(names, "\\d shops") == ["shops.places"]


def test_within_quotes_nothing_is_offered(names: LakeNames) -> None:
    assert offered(names, "SELECT * FROM sales.orders WHERE sku = 's") == []


def test_the_letters_that_are_typed_are_replaced(names: LakeNames) -> None:
    (found,) = suggest("SELECT * FROM sales.or", names)

    assert (found.text, found.replaces, found.kind) == ("sales.orders", len("sales.or"), "table")


def test_a_lake_that_does_not_answer_has_no_names(tmp_path: Path) -> None:
    lake = headgate.connect(tmp_path)
    lake.close()

    assert LakeNames(lake).columns("sales.orders") == ()
