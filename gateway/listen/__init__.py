"""The fronts that agents speak to."""
