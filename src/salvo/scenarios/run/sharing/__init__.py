"""What shards of one batch share through their store: rounds, budget and rates."""
