"""Is a table whole? Every invariant looked at, and what can be derived written anew."""
