"""Pictures of listings: taken in as they come, shown in sizes of our own making."""
