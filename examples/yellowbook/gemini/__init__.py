"""The client of the Gemini API. It knows nothing of jobs."""
