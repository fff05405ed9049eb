"""What two or more hooks share."""
