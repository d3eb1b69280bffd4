"""The API over logins, sessions and users."""
