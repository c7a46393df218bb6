"""`python -m anew` is the same as `anew`."""

from anew.surfaces.cli.main import main

raise SystemExit(main())
