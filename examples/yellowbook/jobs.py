"""What a worker of the application serves: `postmill worker examples.yellowbook.jobs`."""

from examples.yellowbook.bulk import regenerate_embeddings
from examples.yellowbook.generate import generate_embedding
from examples.yellowbook.resources import entries, gemini

__all__ = ["entries", "gemini", "generate_embedding", "regenerate_embeddings"]
