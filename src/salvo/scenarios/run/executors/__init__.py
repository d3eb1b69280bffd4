"""Where runs are made: in this process, in others on this machine, or in those of a cluster."""
