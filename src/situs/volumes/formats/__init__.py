"""Volume files that are one file each: NIfTI, NRRD, MetaImage."""
