"""A second grading system, as one file: what a user would write."""

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
