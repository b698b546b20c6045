"""The steps of a call, one module each, named as in the docs."""
