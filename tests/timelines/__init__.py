"""Logs of earlier versions. They stay for ever: whatever Anew becomes, it must still read them."""
