"""One file a revision, oldest first. A revision that was released is never edited."""
