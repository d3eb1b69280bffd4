"""The audit log, hashes, signatures and verification."""
