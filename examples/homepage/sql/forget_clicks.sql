delete from clicks where visitor = %(visitor)s
