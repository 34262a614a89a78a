"""How many rounds are played: a few in the test suite, and as many as ``make chaos`` asks for."""

import os

ASKED = int(os.environ.get("HEADGATE_CHAOS_ROUNDS", "0"))
LONG = ASKED > 0

AT_A_POINT = max(1, ASKED // 2)
"""On each database: 100 of the 200 that are asked for by default."""
AT_ANY_MOMENT = 25 * ASKED if LONG else 6
"""On each database: 5,000 by default."""
IN_A_LAKE_OF_ITS_OWN = max(2, ASKED // 20)
"""Where each round makes a lake; the same points are played in one that stays."""
EVERYWHERE_ELSE = AT_A_POINT if LONG else 2
"""Of the routes that have no rounds in a lake that stays."""
