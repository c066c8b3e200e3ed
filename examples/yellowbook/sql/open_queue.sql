select postmill.resume_queue('embeddings')
