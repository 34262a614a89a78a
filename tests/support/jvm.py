"""How do tests start a JVM? So that it is soon there: none of them lives long enough to earn an optimiser."""

import os

OPTIONS = "SPARK_SUBMIT_OPTS"
"""The variable whose options every JVM gets that Spark starts, those of programs that tests start too."""

# A session of hundreds of tests compiles more than the 48 MB that Java by default keeps of such code, and
# would throw code away and compile it again, over and over.
SHORT_LIVED = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=192m"


def start_quickly() -> None:
    """Have every JVM of this process and of its children start so, unless somebody chose otherwise."""
    os.environ.setdefault(OPTIONS, SHORT_LIVED)
