"""Which candidates become items: twins, options, marks and the mix of the headline."""
