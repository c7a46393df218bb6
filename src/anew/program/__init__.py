"""The program model: what a document means, whatever language it was written in."""
