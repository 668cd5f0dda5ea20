"""Other grading systems, each as one file: what a user would write."""

KELLGREN_LAWRENCE = """
name = "kellgren-lawrence"
title = "Kellgren–Lawrence grade"
body_part = "knee"
modality = "xr"
sequence = "ap"
questions = 1
sub_scores = 1

[scales.kl]
text = "severity of osteoarthritis"
levels = [
  { grade = 0, text = "no sign" },
  { grade = 1, text = "doubtful narrowing" },
  { grade = 2, text = "definite osteophytes" },
  { grade = 3, text = "definite narrowing" },
  { grade = 4, text = "bone on bone" },
]

[regions.joint]
text = "tibiofemoral joint"
structure = "joint"

[families.kl]
question = "How severe is osteoarthritis of the {region}?"
guide = "Look for osteophytes, narrowing, sclerosis and deformity."
chain = [
  { kind = "find", text = "Find the {region}." },
  { kind = "grade", text = "Grade it." },
]
[[families.kl.sub_scores]]
key = "kl"
text = "Kellgren–Lawrence grade"
scale = "kl"
sequence = "radiograph"
plane = "coronal"
shown_by = { ap = "yes" }

[[question]]
id = "KL"
family = "kl"
region = "joint"
"""

SUSPICION = """
name = "pirads-like"
title = "A PI-RADS-like score"
body_part = "prostate"
modality = "mr"
sequence = "t2w"
questions = 2
sub_scores = 2

[scales.suspicion]
text = "how suspicious the zone is"
levels = [
  { grade = 1, text = "very low" },
  { grade = 2, text = "low" },
  { grade = 3, text = "intermediate" },
  { grade = 4, text = "high" },
  { grade = 5, text = "very high" },
]

[regions.transition_zone]
text = "transition zone"
structure = "transition_zone"

[regions.apex]
text = "apex of the prostate"
structure = "prostate"
span = { inferior_superior = [0.0, 0.3333] }

[families.suspicion]
question = "How suspicious is the {region} of cancer?"
guide = "Look for a dark, ill-defined area."
chain = [
  { kind = "find", text = "Find the {region}." },
  { kind = "describe", text = "Describe its darkest area." },
  { kind = "grade", text = "Grade it." },
]
[[families.suspicion.sub_scores]]
key = "suspicion"
text = "suspicion"
scale = "suspicion"
sequence = "T2w"
plane = "axial"
shown_by = { t2w = "yes" }

[[question]]
id = "TZ"
family = "suspicion"
region = "transition_zone"
[[question]]
id = "APEX"
family = "suspicion"
region = "apex"
"""
"""Grades from 1, no knee: a zone with a mask of its own,
and a third of an organ along the patient's axes."""
