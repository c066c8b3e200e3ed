select q.name from {schema}.queue q order by q.name
