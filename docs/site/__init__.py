"""Makes a static site of the documentation: `python -m docs.site`, which `make docs-site` calls."""
