"""What check_growth.py consists of: shapes of recordings, and counting the work of a command."""
