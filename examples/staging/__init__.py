"""What the demos share: processes that end with them, and the lines that tell how the preparations go."""
