"""Planning computations: pure functions over facts that SQL has gathered."""
