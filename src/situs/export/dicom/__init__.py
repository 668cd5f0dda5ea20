"""Studies of a bench as DICOM:
image series, segmentations, and structured reports of measurements."""
