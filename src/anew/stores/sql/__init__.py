"""What the two SQL stores share: the work that is the same on both, and the scripts of each."""
