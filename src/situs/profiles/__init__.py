"""What a model sees, and the way back to millimetres:
one renderer for models, people and reports."""

from situs.profiles.files import load_profile, shipped_profiles, unmet_needs
from situs.profiles.geometry.frame import Frame
from situs.profiles.geometry.layout import Layout, layout_of
from situs.profiles.geometry.marks import Marks, marks_on
from situs.profiles.geometry.stack import Stack, hulls
from situs.profiles.input import Image, VolumeInput
from situs.profiles.pixels.pictures import PLANES, PatientVolume, Picture, Plane
from situs.profiles.pixels.renderer import Renderer, drawn_on, encode
from situs.profiles.pixels.store import Freed, SliceStore
from situs.profiles.pixels.tones import Tones, ToneScale, tone_scale, tones_around
from situs.profiles.pixels.window import Window, fitting_window, reading_windows
from situs.profiles.presenter import NO_IMAGE, FileVolumes, Presented, Presenter, Volumes
from situs.profiles.prompt import intro_text, options_text, prompt_text
from situs.profiles.schema import AnswerSpace, Profile
from situs.profiles.sight.hidden import Verdict

__all__ = [
    "NO_IMAGE",
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
    "Stack",
    "ToneScale",
    "Tones",
    "Verdict",
    "VolumeInput",
    "Volumes",
    "Window",
    "drawn_on",
    "encode",
    "fitting_window",
    "hulls",
    "intro_text",
    "layout_of",
    "load_profile",
    "marks_on",
    "options_text",
    "prompt_text",
    "reading_windows",
    "shipped_profiles",
    "tone_scale",
    "tones_around",
    "unmet_needs",
]
