"""What a model sees, and the way back to millimetres: one renderer for models, people and reports."""

from situs.profiles._input import Image, VolumeInput
from situs.profiles._pictures import PLANES, PatientVolume, Picture, Plane, render
from situs.profiles._profile import Profile, load_profile, unmet_needs
from situs.profiles._prompt import options_text, prompt_text
from situs.profiles._window import Window, fitting_window

__all__ = [
    "PLANES",
    "Image",
    "PatientVolume",
    "Picture",
    "Plane",
    "Profile",
    "VolumeInput",
    "Window",
    "fitting_window",
    "load_profile",
    "options_text",
    "prompt_text",
    "render",
    "unmet_needs",
]
