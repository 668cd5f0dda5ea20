"""DICOM: files, series, segmentations, contours and compressed pixels."""
