"""What a model sees, and the way back to millimetres: one renderer for models, people and reports."""

from situs.profiles._frame import Frame
from situs.profiles._hidden import Verdict
from situs.profiles._input import Image, VolumeInput
from situs.profiles._layout import Layout, layout_of
from situs.profiles._marks import Marks, marks_on
from situs.profiles._pictures import PLANES, PatientVolume, Picture, Plane
from situs.profiles._presenter import FileVolumes, Presented, Presenter, Volumes
from situs.profiles._profile import load_profile, shipped_profiles, unmet_needs
from situs.profiles._prompt import intro_text, options_text, prompt_text
from situs.profiles._render import Renderer, drawn_on, encode
from situs.profiles._schema import AnswerSpace, Profile
from situs.profiles._store import Freed, SliceStore
from situs.profiles._window import Window, fitting_window

__all__ = [
    "PLANES",
    "AnswerSpace",
    "FileVolumes",
    "Frame",
    "Freed",
    "Image",
    "Layout",
    "Marks",
    "PatientVolume",
    "Picture",
    "Plane",
    "Presented",
    "Presenter",
    "Profile",
    "Renderer",
    "SliceStore",
    "Verdict",
    "VolumeInput",
    "Volumes",
    "Window",
    "drawn_on",
    "encode",
    "fitting_window",
    "intro_text",
    "layout_of",
    "load_profile",
    "marks_on",
    "options_text",
    "prompt_text",
    "shipped_profiles",
    "unmet_needs",
]
