"""The planner: crews, missions and run sheets of many organizations, with everything slow done by jobs under one contract."""
