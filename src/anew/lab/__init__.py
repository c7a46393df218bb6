"""The lab: real documents and the real engine, in virtual time."""
