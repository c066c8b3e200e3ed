"""A stand-in for the part of the Gemini API that embeds texts: `embedContent` and `batchEmbedContents`."""
