select {schema}.archive_here()
