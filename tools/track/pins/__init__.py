"""Which bytes the site speaks of, and where they come from.

    lock       pins.toml as frozen values             write      pins.toml rewritten, comments kept
    tree       SourceTree: verified files of a pin    sync       makes and opens source trees
    bring      the files of a pin, either way         installed  the package that runs, compared
    git        the one importer of GitPython          wheel      releases from PyPI, by hash
    ids        blob ids of a pin, made afresh         history    other releases, for tests and reports
    progress   what a long step tells the reader      index      what the package index offers today

Only `git`, `wheel` and `index` speak to anything outside the checkout.
"""
