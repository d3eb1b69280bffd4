"""What a check of the starter playbook asks of a text, one check per module."""
