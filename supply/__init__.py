"""What Anew is made of: the packages it depends on, their hashes and their licences.

    python -m supply hashes    writes hashes.txt, from what pip would install
    python -m supply notice    writes NOTICE, from what is installed
    python -m supply sbom      writes build/sbom.json, from both

Knows files of the project and metadata of packages. The address of an index is pip's to know.
"""
