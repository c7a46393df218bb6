"""The HTTP API: what programs and the web page ask of a server."""
