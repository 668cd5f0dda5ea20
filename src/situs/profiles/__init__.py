"""What a model sees, and the way back to millimetres: one renderer for models, people and reports."""

from situs.profiles._frame import Frame
from situs.profiles._input import Image, VolumeInput
from situs.profiles._layout import Layout, layout_of
from situs.profiles._pictures import PLANES, PatientVolume, Picture, Plane, render
from situs.profiles._profile import load_profile, shipped_profiles, unmet_needs
from situs.profiles._prompt import options_text, prompt_text
from situs.profiles._schema import AnswerSpace, Profile
from situs.profiles._window import Window, fitting_window

__all__ = [
    "PLANES",
    "AnswerSpace",
    "Frame",
    "Image",
    "Layout",
    "PatientVolume",
    "Picture",
    "Plane",
    "Profile",
    "VolumeInput",
    "Window",
    "fitting_window",
    "layout_of",
    "load_profile",
    "options_text",
    "prompt_text",
    "render",
    "shipped_profiles",
    "unmet_needs",
]
