"""Hold what all records share, and the records that say what runs came to; `schema.py` has every record."""
