"""The API over playbooks: the library, saved playbooks, and trying them."""
