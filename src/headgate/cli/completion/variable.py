"""How does a shell ask for the words that fit? By a variable, which its script sets."""

COMPLETE_VARIABLE = "_HEADGATE_COMPLETE"
