"""Which slices are shown, and the maps between pixels and the patient; no pixels."""
