"""Small files in the layout of published sets:
3DReasonKnee's tables, SGMRI-VQA's questions and results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nibabel
import numpy as np

COLUMNS = "patient_id,time,study_folder,series_folder,knee_side,image_filepath,label_filepath"
SHAPE = (16, 24, 20)
SPACING = (0.7, 0.5, 0.4)
BRAIN, KNEE = "file_brain_AXFLAIR_200_6002425", "file1000001"
QA: list[dict[str, Any]] = [
    {
        "volume_id": BRAIN,
        "slice_num": 4,
        "level": "slice",
        "task": "detection",
        "type": "closed_ended",
    }
    | {"question": "Is there a lesion?", "answer": "Yes, there is.", "reasoning": "A bright spot."}
    | {
        "ground_truth": {
            "labels": ["Mass"],
            "bboxes": [{"x": 10, "y": 20, "width": 5, "height": 6, "label": "Mass"}],
        }
    },
    {
        "volume_id": BRAIN,
        "slice_num": 5,
        "level": "slice",
        "task": "detection",
        "type": "closed_ended",
    }
    | {"question": "Is there a lesion?", "answer": "No"},
    {
        "volume_id": BRAIN,
        "slice_num": 4,
        "level": "slice",
        "task": "classification",
        "type": "single_choice",
    }
    | {"question": "Which?", "choices": ["(A) Mass", "(B) Edema"], "answer": "(B) Edema"},
    {
        "volume_id": BRAIN,
        "slice_num": 4,
        "level": "slice",
        "task": "diagnosis",
        "type": "multiple_choice",
    }
    | {
        "question": "Which ones?",
        "choices": {"A": "Mass", "B": "Edema", "C": "Cyst"},
        "answer": "(A), (C)",
    },
    {
        "volume_id": KNEE,
        "num_slices": 30,
        "level": "volume",
        "task": "counting",
        "type": "closed_ended",
    }
    | {
        "question": "How many?",
        "answer": "3",
        "ground_truth": {"final_diagnosis": ["Meniscus Tear"]},
    },
    {
        "volume_id": KNEE,
        "num_slices": 30,
        "level": "volume",
        "task": "captioning",
        "type": "open_ended",
    }
    | {"question": "Describe.", "answer": "A tear in frame 7."},
]
RESULTS: dict[str, Any] = {
    "model_key": "m",
    "results": [
        {
            "sample_id": f"knee_{KNEE}_localization_0",
            "dataset": "knee",
            "task": "localization",
            "qa_type": "open_ended",
        }
        | {
            "question": "Where?",
            "gt_answer": "Frame 7: <bbx>[1,2,3,4]</bbx>",
            "model_output": "Frame 7: [1,2,4,6]",
        }
        | {
            "bboxes": [{"frame": 7, "label": "Meniscus Tear", "bbox": [1, 2, 3, 4]}],
            "level": "volume_level",
        },
    ],
}


def write_set(folder: Path, **changes: Any) -> tuple[Path, Path]:
    """Two volumes, slices first and last, with one question each."""
    for name, order in (("first.nii.gz", (0, 1, 2)), ("last.nii.gz", (1, 2, 0))):
        matrix = np.eye(4)
        matrix[:3, :3] = np.diag(SPACING)[:, order]
        array = np.zeros([SHAPE[axis] for axis in order], dtype=np.int16)
        nibabel.save(nibabel.Nifti1Image(array, matrix), folder / name)
    table = folder / "test_split.csv"
    table.write_text(
        f"{COLUMNS}\n9001,V00,s1,d1,LEFT,first.nii.gz,x\n9002,V00,s2,d2,RIGHT,last.nii.gz,y\n"
    )
    entry = {
        "question_id": 1,
        "bbox": [3, 7, 2, 9, 4, 11],
        "reasoning": "A bright area.",
        "answer": {
            "MOAKS_scores": {
                "patella medial BML": {
                    "Size of BML (including cyst)": 2,
                    "Number of BML within subregion": 1,
                    "% of lesion that is BML (excluding cyst)": 3,
                }
            }
        },
    }
    entries = [{**entry, "image_filepath": name} for name in ("first.nii.gz", "last.nii.gz")]
    entries[1] |= changes
    answers = folder / "answers.json"
    answers.write_text(json.dumps(entries))
    return table, answers
