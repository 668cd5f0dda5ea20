"""Masks: folders of them, their values, segments, and painting them onto one grid."""
