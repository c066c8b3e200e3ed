"""What the page Jobs is made of."""
