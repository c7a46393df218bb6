"""The paths and words that clients of other engines know, for the same runs and programs.

The API can be read without these modules: nothing imports them but the list of all routes.
"""
