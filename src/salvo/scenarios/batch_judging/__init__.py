"""Judges that are asked through the providers' batch APIs: of runs, of scores and of judgings."""
