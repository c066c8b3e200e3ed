"""What the HTTP API takes and answers: models that server and client share. Neither framework nor database is needed."""
