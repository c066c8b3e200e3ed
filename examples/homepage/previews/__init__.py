"""The way of a site's picture to visitors, as three jobs that wait for one another (section 11 of the design)."""
