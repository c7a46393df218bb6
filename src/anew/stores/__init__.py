"""Where runs are kept: implementations of the protocols in `anew.store`.

`memory` is the reference, `sqlite` the default, `postgres` for many machines, `remote` for those
who reach one of these through a server. `contract` is the suite that each must pass.
"""
