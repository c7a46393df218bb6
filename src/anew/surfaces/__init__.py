"""What speaks to people: the command line, and later the API and the web."""
