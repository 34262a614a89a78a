"""What the ports of a catalog tell of how a lake is doing, as numbers and sentences, for every face alike."""
