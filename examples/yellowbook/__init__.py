"""The yellow book: businesses that are found by what they mean, with embeddings made in the background."""
