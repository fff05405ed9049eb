"""Every hook that Matrixx ships."""
