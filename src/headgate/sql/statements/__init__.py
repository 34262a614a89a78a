"""What SQL statements say, as values: the user's text is kept, nothing is written anew from a tree."""
