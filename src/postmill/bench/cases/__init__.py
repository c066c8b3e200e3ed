"""One file a case, or a family of them."""
