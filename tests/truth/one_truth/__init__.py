"""What check_one_truth.py compares: a file for each kind of quantity."""
