"""Listen for HTTP, and hold connections within limits: for the API and for the lab server."""
