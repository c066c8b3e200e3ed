select postmill.now() as moment
