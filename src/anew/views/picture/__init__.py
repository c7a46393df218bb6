"""The picture of one run: all that its page shows at first sight, as of any of its events."""
