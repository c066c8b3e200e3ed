"""The web console: pages for people, whole without JavaScript."""
