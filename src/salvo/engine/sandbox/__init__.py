"""Work that foreign data can make slow or dangerous, done by processes that can be killed and can do nothing else."""
