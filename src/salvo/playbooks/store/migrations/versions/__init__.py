"""The revisions, one file each, oldest first. A released revision is never edited."""
