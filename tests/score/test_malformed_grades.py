"""Graded answers as models spoil them:
each is read as a person would read it, or not at all, but never otherwise."""

from __future__ import annotations

import pytest

from situs.anatomy.banks import levels_in, load_bank
from situs.items import Boxes, Grades
from situs.profiles import load_profile
from situs.score import Offered, Parsed, Unparsed, parse_boxes, parse_grades
from situs.score.compound.split import split_response
from situs.space import WorldBox

SPACE = load_profile("3dreasonknee-o1").answer
SIZES = [(200.0, 220.0)] * 32
BML = ("bml_share", "number", "size")
TOLD = {"size": 2, "number": 1, "bml_share": 3}
ONE, FLAG, SHAPE = ("grade",), ("presence",), ("morphology",)
CARTILAGE, CYST, LIGAMENT = (
    ("depth", "size"),
    ("presence", "tear_location"),
    ("tear", "bml_cyst", "repair"),
)
SCALED = {
    "size": "bml_size", "number": "bml_number", "bml_share": "bml_share",
    "depth": "cartilage_depth",
    "grade": "extrusion", "morphology": "meniscus", "presence": "presence",
    "tear_location": "tear_location",
    "tear": "presence", "bml_cyst": "presence", "repair": "presence",
}  # fmt: skip
SCALES = {
    name: Offered({level.grade: level.text for level in scale.levels}, scale.absent_grade)
    for name, own in SCALED.items()
    for scale in [load_bank("moaks-knee").scales[own]]
}
BOX = (9, 23, 40.0, 80.0, 60.0, 100.0)
"""First and last slice, x and y from – to."""

# Reply; the box and the grades a person reads from it, None for nothing that is sure; the
# sub-scores asked for.
# fmt: off
REPLIES = [
    ('{"box": [9, 23, 40, 80, 60, 100], "grades": {"size": 2, "number": 1, "bml_share": 3}}', BOX, TOLD, BML),
    ('Looking at the patella I see a bright area.\n\n{"box": [9, 23, 40, 80, 60, 100], "grades": {"size": 2, "number": 1, "bml_share": 3}}\n\nLet me know if you need more.', BOX, TOLD, BML),
    ('```json\n{\n  "box": [9, 23, 40, 80, 60, 100],\n  "grades": {"size": 2, "number": 1, "bml_share": 3}\n}\n```', BOX, TOLD, BML),
    ("{'box': [9, 23, 40, 80, 60, 100], 'grades': {'size': 2, 'number': 1, 'bml_share': 3}}", BOX, TOLD, BML),
    ('{"box": [9, 23, 40, 80, 60, 100,], "grades": {"size": 2, "number": 1, "bml_share": 3,},}', BOX, TOLD, BML),
    ('{"Box": [9, 23, 40, 80, 60, 100], "Grades": {"Size": 2, "Number": 1, "BML_Share": 3}}', BOX, TOLD, BML),
    ('{"bounding_box": [9, 23, 40, 80, 60, 100], "scores": {"BML size": 2, "number of BMLs": 1, "percentage BML": 3}}', BOX, TOLD, BML),
    ('{"bbox": [9, 23, 40, 80, 60, 100], "MOAKS_scores": {"patella medial BML": {"Size of BML (including cyst)": 2, "Number of BML within subregion": 1, "% of lesion that is BML (excluding cyst)": 3}}}', BOX, TOLD, BML),
    ('{"box": [9, 23, 40, 80, 60, 100], "grades": {"size": 2}}', BOX, {"size": 2}, BML),
    ('{"grades": {"size": 2, "number": 1, "bml_share": 3}}', None, TOLD, BML),
    ('{"answer": {"result": {"box": [9, 23, 40, 80, 60, 100], "grades": {"size": {"value": 2}, "number": {"value": 1}, "bml_share": {"value": 3}}}}}', BOX, TOLD, BML),
    ('{"box": [9, 23, 40, 80, 60, 100], "grades": {"size": 2, "size": 2, "number": 1, "bml_share": 3}}', BOX, TOLD, BML),
    ('{"box": [9, 23, 40, 80, 60, 100], "grades": {"size": 1, "size": 2, "number": 1, "bml_share": 3}}', BOX, {"number": 1, "bml_share": 3}, BML),
    ('First guess: {"box": [1, 2, 3, 9, 3, 9], "grades": {"size": 0, "number": 0, "bml_share": 0}}\nFinal answer: {"box": [9, 23, 40, 80, 60, 100], "grades": {"size": 2, "number": 1, "bml_share": 3}}', BOX, TOLD, BML),
    ('{"box": [9, 23, 40, 80, 60, 100]}\n{"grades": {"size": 2, "number": 1, "bml_share": 3}}', BOX, TOLD, BML),
    ('{\n "box": [9, 23, 40, 80, 60, 100], // start, end, x, x, y, y\n "grades": {"size": 2, /* a third */ "number": 1, "bml_share": 3 # all\n }\n}', BOX, TOLD, BML),
    ('{"box": [9, 23, 40, 80, 60, 100], "grades": {"size": NaN, "number": 1, "bml_share": null}}', BOX, {"number": 1}, BML),
    ('{"box": None, "grades": {"size": 2, "number": "N/A", "bml_share": None}}', None, {"size": 2}, BML),
    ('{"box": [9, 23, 40, 80, 60, 100], "grades": {"size": "grade 2", "number": "Grade 1", "bml_share": "MOAKS grade 3"}}', BOX, TOLD, BML),
    ('{"box": [9, 23, 40, 80, 60, 100], "grades": {"size": "2/3", "number": "1/3", "bml_share": "3/3"}}', BOX, TOLD, BML),
    ('{"box": [9, 23, 40, 80, 60, 100], "grades": {"size": "2 out of 3", "number": "1 of 3", "bml_share": "3 (of 3)"}}', BOX, TOLD, BML),
    ('{"box": [9, 23, 40, 80, 60, 100], "grades": {"size": "II", "number": "I", "bml_share": "grade III"}}', BOX, TOLD, BML),
    ('{"box": [9, 23, 40, 80, 60, 100], "grades": {"size": "two", "number": "one", "bml_share": "three"}}', BOX, TOLD, BML),
    ('{"box": {"start_slice": 9, "end_slice": 23, "x_min": 40, "x_max": 80, "y_min": 60, "y_max": 100}, "grades": {"size": 2, "number": 1, "bml_share": 3}}', BOX, TOLD, BML),
    ('{"box": {"slices": [9, 23], "x": [40, 80], "y": [60, 100]}, "grades": {"size": 2, "number": 1, "bml_share": 3}}', BOX, TOLD, BML),
    ('{"box": "[9, 23, 40, 80, 60, 100]", "grades": {"size": 2, "number": 1, "bml_share": 3}}', BOX, TOLD, BML),
    ('{"box": "9, 23, 40, 80, 60, 100", "grades": {"size": 2, "number": 1, "bml_share": 3}}', BOX, TOLD, BML),
    ('{"box": [[9, 23], [40, 80], [60, 100]], "grades": {"size": 2, "number": 1, "bml_share": 3}}', BOX, TOLD, BML),
    ('{“box”: [9, 23, 40, 80, 60, 100], “grades”: {“size”: 2, “number”: 1, “bml_share”: 3}}', BOX, TOLD, BML),
    ('{‘box’: [9, 23, 40, 80, 60, 100], ‘grades’: {‘size’: 2, ‘number’: 1, ‘bml_share’: 3}}', BOX, TOLD, BML),
    ('{"box": [9, 23, 40, 80, 60, 100], "grades": {"size": 2, "number": 1, "bml_sh', BOX, {"size": 2, "number": 1}, BML),
    ('{"box": [9, 23, 40, 80, 60, 100], "grades": {"size": 2, "number":', BOX, {"size": 2}, BML),
    ('{"grades": {"size": 2, "number": 1, "bml_share": 3}, "box": [9, 23, 40', None, TOLD, BML),
    ('- **box**: [9, 23, 40, 80, 60, 100]\n- **size**: 2\n- **number**: 1\n- **bml_share**: 3', BOX, TOLD, BML),
    ('## Answer\n* Box: slices 9 to 23, x 40–80, y 60–100\n* Size: Grade 2 (33–66 %)\n* Number: Grade 1\n* BML share: Grade 3 (> 66 %)', BOX, TOLD, BML),
    ('| sub-score | grade |\n|---|---|\n| size | 2 |\n| number | 1 |\n| bml_share | 3 |\n\nbox: [9, 23, 40, 80, 60, 100]', BOX, TOLD, BML),
    ("{'box': (9, 23, 40, 80, 60, 100), 'grades': {'size': 2, 'number': 1, 'bml_share': 3}}", BOX, TOLD, BML),
    ('dict(box=[9, 23, 40, 80, 60, 100], size=2, number=1, bml_share=3)', BOX, TOLD, BML),
    ('box: [9, 23, 40, 80, 60, 100]\ngrades:\n  size: 2\n  number: 1\n  bml_share: 3', BOX, TOLD, BML),
    ('{"start_slice": 9, "end_slice": 23, "x_min": 40, "x_max": 80, "y_min": 60, "y_max": 100, "size": 2, "number": 1, "bml_share": 3}', BOX, TOLD, BML),
    ('{"box": [9, 23, 40, 80, 60, 100], "grades": [{"sub_score": "size", "grade": 2}, {"sub_score": "number", "grade": 1}, {"sub_score": "bml_share", "grade": 3}]}', BOX, TOLD, BML),
    ('{"box": [9, 23, 40, 80, 60, 100], "grades": [2, 1, 3]}', BOX, None, BML),
    ('{"box": [9, 23, 40, 80, 60, 100], "grades": {"size": "1-2", "number": "1 or 2", "bml_share": "2 to 3"}}', BOX, None, BML),
    ('{"box": [9, 23, 40, 80, 60, 100], "grades": {"size": "50 %", "number": 1, "bml_share": "100%"}}', BOX, {"number": 1}, BML),
    ('{"box": [9.0, 23.0, 40.0, 80.0, 60.0, 100.0], "grades": {"size": 2.0, "number": 1.0, "bml_share": 2.5}}', BOX, {"size": 2, "number": 1}, BML),
    ('{"box": [9, 23, 40, 80, 60, 100], "grades": {"size": -2, "number": 1, "bml_share": 3}}', BOX, {"number": 1, "bml_share": 3}, BML),
    ('{"box": [9, 23, 40, 80, 60, 100], "grades": {"size": "2?", "number": "~1", "bml_share": "probably 3"}}', BOX, None, BML),
    ('{"box": [start_slice, end_slice, x_min, x_max, y_min, y_max], "grades": {"size": 0-3, "number": 0-3, "bml_share": 0-3}}', None, None, BML),
    ('<think>size maybe 3? {"grades": {"size": 3}}</think>\nFinal diagnosis: {"MOAKS_scores": {"patella medial BML": {"size": 2, "number": 1, "bml_share": 3}}, "bbox": [9, 23, 40, 80, 60, 100]}', BOX, TOLD, BML),
    ('Size grade 2, number grade 1, BML share grade 3. Box [9, 23, 40, 80, 60, 100].', BOX, TOLD, BML),
    ('{"box": [9, 23, 40, 80, 60, 100] "grades": {"size": 2 "number": 1 "bml_share": 3}}', BOX, TOLD, BML),
    ('"box": [9, 23, 40, 80, 60, 100], "grades": {"size": 2, "number": 1, "bml_share": 3}', BOX, TOLD, BML),
    ('"size": 2,\n"number": 1,\n"bml_share": 3\n"box": [9, 23, 40, 80, 60, 100]', BOX, TOLD, BML),
    ('{\\"box\\": [9, 23, 40, 80, 60, 100], \\"grades\\": {\\"size\\": 2, \\"number\\": 1, \\"bml_share\\": 3}}', BOX, TOLD, BML),
    ('"{\\"box\\": [9, 23, 40, 80, 60, 100], \\"grades\\": {\\"size\\": 2, \\"number\\": 1, \\"bml_share\\": 3}}"', BOX, TOLD, BML),
    ('{"box": [9, 23, 40, 80, 60, 100], "grades": "size: 2, number: 1, bml_share: 3"}', BOX, TOLD, BML),
    ('{"box": [9, 23, 40, 80, 60, 100], "grades": "{\\"size\\": 2, \\"number\\": 1, \\"bml_share\\": 3}"}', BOX, TOLD, BML),
    ('{"box": [9, 23, 40, 80, 60, 100], "grades": {"BML": 2}}', BOX, None, BML),
    ('{"MOAKS_scores": {"patella lateral BML": {"size": 1, "number": 1, "bml_share": 1}, "patella medial BML": {"size": 2, "number": 1, "bml_share": 3}}}', None, {"number": 1}, BML),
    ('{"box": [9, 23, 40, 80, 60, 100], "grades": {"grade": 2}}', BOX, {"grade": 2}, ONE),
    ('{"bbox": [9, 23, 40, 80, 60, 100], "MOAKS_scores": {"medial meniscus extrusion": 2}}', BOX, {"grade": 2}, ONE),
    ('{"bbox": [9, 23, 40, 80, 60, 100], "MOAKS_scores": {"medial meniscal extrusion": {"grade": 2, "measurement_mm": 3.5}}}', BOX, {"grade": 2}, ONE),
    ('The meniscus extrudes by 3.5 mm, which is grade 2. Box: [9, 23, 40, 80, 60, 100]', BOX, {"grade": 2}, ONE),
    ('The meniscus extrudes by 3 mm. Box: [9, 23, 40, 80, 60, 100]', BOX, None, ONE),
    ('{"box": [9, 23, 40, 80, 60, 100], "extrusion_mm": 3}', BOX, None, ONE),
    ('Grade: 2', None, {"grade": 2}, ONE),
    ('Grade II', None, {"grade": 2}, ONE),
    ('It is not grade 3 but grade 2.', None, None, ONE),
    ('Either grade 1 or 2.', None, None, ONE),
    ('{"grades": 2, "box": [9, 23, 40, 80, 60, 100]}', BOX, {"grade": 2}, ONE),
    ('{"grades": {"grade": "2 (3 to <5 mm)"}, "box": [9, 23, 40, 80, 60, 100]}', BOX, {"grade": 2}, ONE),
    ('{"finding": "popliteal cyst", "presence": "yes", "box": [9, 23, 40, 80, 60, 100]}', BOX, {"presence": 1}, FLAG),
    ('There is no popliteal cyst.', None, None, FLAG),
    ('A popliteal cyst is present in slices 9-23.', None, None, FLAG),
    ('{"popliteal_cyst": 1}', None, {"presence": 1}, FLAG),
    ('{"presence": "not visible"}', None, None, FLAG),
    ('{"ACL": {"tear": 0, "bml_cyst": 1, "repair": 0}}', None, {"tear": 0, "bml_cyst": 1, "repair": 0}, LIGAMENT),
    ('tear: no; BML/cyst: yes; repair: no', None, {"tear": 0, "bml_cyst": 1, "repair": 0}, LIGAMENT),
    ('{"size": 2, "number": 1, "bml_share": 3, "box": {"start_slice": 9, "end_slice": 23, "x_min": 40, "x_max": 80, "y_min": 60, "y_max": 100}}', BOX, TOLD, BML),
    ('{"box": {"x1":40,"y1":60,"z1":9,"x2":80,"y2":100,"z2":23}, "grades": {"size": 2, "number": 1, "bml_share": 3}}', BOX, TOLD, BML),
    ('{"box": {"slice_range": "9-23", "bbox": [40,60,80,100]}, "grades": {"size": 2, "number": 1, "bml_share": 3}}', BOX, TOLD, BML),
    ('{"box": {"min": [9,40,60], "max": [23,80,100]}, "grades": {"size": 2, "number": 1, "bml_share": 3}}', None, TOLD, BML),
    ('{"box": [23, 9, 80, 40, 100, 60], "grades": {"size": 2, "number": 1, "bml_share": 3}}', BOX, TOLD, BML),
    ('{"box": [9, 23, 40, 80, 60], "grades": {"size": 2, "number": 1, "bml_share": 3}}', None, TOLD, BML),
    ('{"box": [[9, 23, 40, 80, 60, 100]], "grades": {"size": 2, "number": 1, "bml_share": 3}}', BOX, TOLD, BML),
    ('{"box": "start_slice=9, end_slice=23, x_min=40, x_max=80, y_min=60, y_max=100", "grades": {"size": 2, "number": 1, "bml_share": 3}}', BOX, TOLD, BML),
    ('[start_slice, end_slice, x_min, x_max, y_min, y_max] = [9, 23, 40, 80, 60, 100]\nsize=2; number=1; bml share=3', BOX, TOLD, BML),
    ('{"box": ["9", "23", "40", "80", "60", "100"], "grades": {"size": 2, "number": 1, "bml_share": 3}}', BOX, TOLD, BML),
    ('{"boxes": [{"label": "medial patella", "bbox": [9, 23, 40, 80, 60, 100]}], "grades": {"size": 2, "number": 1, "bml_share": 3}}', BOX, TOLD, BML),
    ('{"box": [9, 23, 40, 80, 60, 100], "size": 2, "number": 1, "bml_share": 3}', BOX, TOLD, BML),
    ('{"bounding_box": [9, 23, 40, 80, 60, 100], "grades": {"size": 2, "number": 1, "bml_share": 3}}', BOX, TOLD, BML),
    ('{"3D bounding box": [9, 23, 40, 80, 60, 100], "MOAKS": {"size": 2, "number": 1, "bml_share": 3}}', BOX, TOLD, BML),
    ('SIZE: 2, NUMBER: 1, BML_SHARE: 3', None, TOLD, BML),
    ('Answer: 2, 1, 3', None, None, BML),
    ('{"size": "Grade 2 – 33-66%", "number": "1 - single", "bml_share": "3 - mostly BML"}', None, TOLD, BML),
    ('{"size": {"grade": 2, "percentage": 45}, "number": {"grade": 1, "count": 1}, "bml_share": {"grade": 3, "percentage": 90}}', None, TOLD, BML),
    ('{"size": [2], "number": [1], "bml_share": [3]}', None, TOLD, BML),
    ('I would grade the size as 2, the number as 1, and the BML share as 3.', None, TOLD, BML),
    ('{"size": 2, "number": ">=3", "bml_share": "<33%"}', None, {"size": 2, "bml_share": 1}, BML),
    ('{"size": 2, "number": 1, "bml_share": 99}', None, {"size": 2, "number": 1}, BML),
    ('{"size": "share of the medial patella (0 = none; 1 = less than 33 %)"}', None, None, BML),
    ('{"size": "<0-3>", "number": "<0-3>", "bml_share": "<0-3>"}', None, None, BML),
    ('{"size": "x", "number": "", "bml_share": "unknown"}', None, None, BML),
    ('Size: 2.5\nNumber: 1', None, {"number": 1}, BML),
    ('Size: 2/3\nNumber: 1/3\nBML share: 3/3', None, TOLD, BML),
    ('1. Size – 2\n2. Number – 1\n3. BML share – 3', None, TOLD, BML),
    ('1. Size: 2\n2. Number: 1\n3. BML share: 3', None, TOLD, BML),
    ('Final answer: \\boxed{2}', None, {"grade": 2}, ONE),
    ('The grade is 2 (3 to 5 mm).', None, {"grade": 2}, ONE),
    ('Extrusion: 2 mm', None, None, ONE),
    ('2 mm', None, None, ONE),
    ('3.5', None, None, ONE),
    ('grade 0 (no extrusion)', None, {"grade": 0}, ONE),
    ('{"medial_meniscus_extrusion": {"anterior": 2}}', None, {"grade": 2}, ONE),
    ('{"medial_meniscus_extrusion": {"grade": 2, "grade_description": "3 to 5 mm"}}', None, {"grade": 2}, ONE),
    ('{"grade": "2", "reason": "3 mm"}', None, {"grade": 2}, ONE),
    ('{"grade": null}', None, None, ONE),
    ('null', None, None, ONE),
    ('{"presence": 0, "confidence": 1}', None, {"presence": 0}, FLAG),
    ('It is unclear whether a cyst is present.', None, None, FLAG),
    ('A cyst may be present.', None, None, FLAG),
    ('If a cyst is present, the score is 1; otherwise it is 0.', None, None, FLAG),
    ('presence: 0 or 1', None, None, FLAG),
    ('presence: absent', None, {"presence": 0}, FLAG),
    ('Present: no', None, {"presence": 0}, FLAG),
    ('No evidence of a cyst being present.', None, None, FLAG),
    ('No.', None, {"presence": 0}, FLAG),
    ('{"popliteal cyst": {"presence": "absent"}}', None, {"presence": 0}, FLAG),
    ('{"popliteal cyst": false}', None, {"presence": 0}, FLAG),
    ('{"size": 2, "full_thickness": 1}', None, {"size": 2, "depth": 1}, CARTILAGE),
    ('{"cartilage": {"surface_area": 2, "full-thickness loss": 1}}', None, {"size": 2, "depth": 1}, CARTILAGE),
    ('{"Size of any cartilage loss as % of surface area": 2, "% of loss that is full thickness": 1}', None, {"size": 2, "depth": 1}, CARTILAGE),
    ('Cartilage grade 2.1', None, None, CARTILAGE),
    ('Morphology: 3 (horizontal tear)', None, {"morphology": 3}, SHAPE),
    ('{"morphology": "horizontal tear"}', None, {"morphology": 3}, SHAPE),
    ('{"morphology": "tear"}', None, None, SHAPE),
    ('{"morphology": "normal"}', None, {"morphology": 0}, SHAPE),
    ('{"medial meniscus anterior horn": {"morphology": 3}}', None, {"morphology": 3}, SHAPE),
    ('{"meniscal_cyst": {"presence": 1, "tear_location": 2}}', None, {"presence": 1, "tear_location": 2}, CYST),
    ('{"meniscal cyst": 1, "tear location": "2 (posterior horn)"}', None, {"presence": 1, "tear_location": 2}, CYST),
    ('{"presence": "No", "tear_location": "none"}', None, {"presence": 0, "tear_location": 3}, CYST),
    ('{"presence": false, "tear_location": "absent"}', None, {"presence": 0, "tear_location": 3}, CYST),
    ('{"presence": 0, "tear_location": "no tear"}', None, {"presence": 0, "tear_location": 3}, CYST),
    ('{"presence": 0, "tear_location": false}', None, {"presence": 0, "tear_location": 3}, CYST),
    ('Presence: 0\nTear location: none', None, {"presence": 0, "tear_location": 3}, CYST),
    ('Presence: 1\nTear location: absent', None, {"presence": 1, "tear_location": 3}, CYST),
    ('{"presence": 1, "tear_location": "Posterior horn"}', None, {"presence": 1, "tear_location": 2}, CYST),
    ('{"presence": 1, "tear_location": "yes"}', None, {"presence": 1}, CYST),
    ('| presence | seen |\n| tear location | posterior horn |', None, {"presence": 1, "tear_location": 2}, CYST),
    ('{"presence": 7}', None, None, FLAG),
    ('Presence: 2', None, None, FLAG),
    ('{"presence": "not seen"}', None, {"presence": 0}, FLAG),
    ('{"size": 9, "depth": 4}', None, None, CARTILAGE),
    ('{"size": 9, "depth": 3}', None, {"depth": 3}, CARTILAGE),
    ('{"size": 9, "size": 2, "depth": 3}', None, {"depth": 3}, CARTILAGE),
    ('{"size": 45, "number": 4, "bml_share": 80}', None, None, BML),
    ('{"size": 2, "number": {"grade": 3, "count": 5}, "bml_share": 3}', None, {"size": 2, "number": 3, "bml_share": 3}, BML),
    ('{"size": "present", "number": 1, "bml_share": 3}', None, {"number": 1, "bml_share": 3}, BML),
    ('{"size": "less than 33 % of the subregion", "number": "three or more", "bml_share": "33 % to 66 %"}', None, {"size": 1, "number": 3, "bml_share": 2}, BML),
    ('Size: two\nNumber: one\nbml share: three', None, TOLD, BML),
    ('Size: two thirds\nNumber: one', None, {"number": 1}, BML),
    ('Not grade 3.', None, None, ONE),
    ('This is not grade 3.', None, None, ONE),
    ('I would not say grade 3', None, None, ONE),
    ("It isn't grade 3.", None, None, ONE),
    ('Grade 3 is ruled out.', None, None, ONE),
    ('No grade 3 extrusion.', None, None, ONE),
    ('Grade 3 rather than grade 2.', None, None, ONE),
    ('Grade: 4', None, None, ONE),
    ('Grade 7', None, None, ONE),
    ('There is a bulge, not a tear. Grade: 2', None, {"grade": 2}, ONE),
    ('Slice: 9. The meniscus is displaced.', None, None, ONE),
    ('The patella is present.', None, None, FLAG),
    ('Tear: none. Slice 9.', None, None, FLAG),
    ('The size is not 2.', None, None, BML),
    ('size 2', None, None, BML),
    ('Number of slices: 9', None, None, BML),
    ('The number of slices is 3', None, None, BML),
    ('{"number_of_slices": 3, "size": 2}', None, {"size": 2}, BML),
    ('Score: 2 out of 3', None, {"grade": 2}, ONE),
    ('Grade: 2-3', None, None, ONE),
    ('grade 2/3', None, {"grade": 2}, ONE),
    ('The grade would be 2.', None, None, ONE),
    ('Overall MOAKS grade: 1', None, {"grade": 1}, ONE),
    ('grade 1.', None, {"grade": 1}, ONE),
    ('This is grade 1, not grade 2.', None, None, ONE),
    ('{"grade": "1, maybe 2"}', None, None, ONE),
    ('Step 1: find it. Step 2: grade it. Grade: 3', None, {"grade": 3}, ONE),
    ('I cannot see the images, so I cannot grade this.', None, None, ONE),
    ('Grade: N/A', None, None, ONE),
]
# fmt: on


@pytest.mark.parametrize(("reply", "box", "grades", "names"), REPLIES)
def test_a_reply_is_read_as_a_person_would(reply, box, grades, names) -> None:
    place = Boxes((WorldBox((0, 0, 0), (1, 1, 1), "medial patella"),))
    texts = split_response(reply, {"box": place, "grades": Grades(dict.fromkeys(names, 0))})
    found = parse_boxes(texts["box"], SPACE, SIZES, ["medial patella"])
    told = parse_grades(texts["grades"], names, SCALES)
    assert (told.value if isinstance(told, Parsed) else None) == grades
    if box is None:
        assert not isinstance(found, Parsed)
    else:
        first, last, *sides = box
        assert isinstance(found, Parsed)
        assert [one.frame for one in found.value] == list(range(first, last + 1))
        assert {(one.x0, one.x1, one.y0, one.y1) for one in found.value} == {tuple(sides)}


def test_a_question_that_is_only_repeated_says_nothing() -> None:
    bank = load_bank("moaks-knee")
    for question in bank.question:
        names = [sub.key for sub in bank.sub_scores_of(question)]
        for guided in (False, True):
            words = bank.words_of(question, guided=guided)
            scales = {name: Offered(levels) for name, levels in levels_in(words).items()}
            assert set(scales) == set(names)
            said = parse_grades(words, names, scales)
            assert isinstance(said, Unparsed), (question.id, said)
