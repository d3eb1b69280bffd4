"""What people decide about a report: events that are added and never altered, and the state that follows from them."""
