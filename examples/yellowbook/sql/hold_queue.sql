select postmill.pause_queue('embeddings', 'the demo')
