"""The rows of the tables: queries and changes within a transaction of the store, and the records made from rows."""
