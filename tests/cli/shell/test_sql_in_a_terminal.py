"""``headgate sql`` as a person has it: a prompt, Tab, an answer, an error, Ctrl-D."""

import stat
from pathlib import Path

import headgate
from tests.support.terminal import run_in_terminal


def test_a_person_completes_a_name_reads_an_answer_and_leaves(tmp_path: Path) -> None:
    with headgate.connect(tmp_path / "lake") as lake:
        lake.create_schema("sales")
        lake.create_table("sales.orders", "id BIGINT, sku STRING").append([{"id": 7, "sku": "seven"}])
    state = tmp_path / "state"

    with run_in_terminal(
        "sql", "--lake", str(tmp_path / "lake"), environment={"XDG_STATE_HOME": str(state)}
    ) as terminal:
        terminal.wait_for("headgate=>")
        here = terminal.press("SELECT * FROM sales.or\t")
        terminal.wait_for("ders", since=here)
        here = terminal.press("\rLIMIT 3;\r")
        assert "seven" in terminal.wait_for("(1 row)", since=here)
        here = terminal.press("\\d sales.nothing\r")
        terminal.wait_for("code: DELTA_TABLE_NOT_FOUND", since=here)
        terminal.wait_for("headgate=>", since=here)
        here = terminal.press("SELECT 'half\x03")
        here = terminal.press("\\dn\r")
        terminal.wait_for("sales", since=here)
        terminal.press("\x04")

        assert terminal.end() == 0

    history = state / "headgate" / "sql_history"
    assert stat.S_IMODE(history.stat().st_mode) == 0o600
    assert "SELECT * FROM sales.orders" in history.read_text()
