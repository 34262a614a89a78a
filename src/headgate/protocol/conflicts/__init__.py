"""Two commits raced: may ours go on top of the winners, and as what? The rules as rows, and the rebase."""
