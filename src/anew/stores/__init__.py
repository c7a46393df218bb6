"""Where runs are kept: implementations of the protocols in `anew.store`.

`memory` is the reference, `sqlite` the default, `contract` the suite that each must pass.
"""
