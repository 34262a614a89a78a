"""``headgate config show``: which lake is meant, and why."""

from typing import TYPE_CHECKING

from headgate.cli import configuration, console
from headgate.cli.answers.upkeep import ChosenLake
from headgate.cli.deferred import deferred_module
from headgate.cli.options import AsJson, LakePlace

if TYPE_CHECKING:
    from headgate.catalog import targets
else:
    targets = deferred_module("headgate.catalog.targets")


def show_config(lake: LakePlace = None, as_json: AsJson = False) -> None:
    """Show which lake is meant, and who says so.

    And where its token comes from; never the token itself.
    """
    around = configuration.current_surroundings()
    choice = configuration.choose_lake(lake, around)
    token = configuration.find_token(choice, around)
    shown = ChosenLake(
        lake=targets.without_password(choice.place),
        origin=choice.origin.value,
        file=None if choice.file is None else str(choice.file),
        token=None if token is None else token.origin.value,
        user_file=str(around.user_file),
    )
    if as_json:
        console.show_json(shown)
        return
    facts = {
        "lake": shown.lake,
        "named by": shown.origin,
        "file": shown.file or "",
        "token": shown.token or "none is sent",
        "your file": shown.user_file + ("" if around.user_file.is_file() else ", which is not there"),
    }
    console.show_pairs(console.out(), {name: said for name, said in facts.items() if said})
