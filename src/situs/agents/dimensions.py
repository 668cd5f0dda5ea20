"""The six spatial dimensions of CT-SpatialVQA,
told by rule from the wording of a question and its answer."""

from __future__ import annotations

import re

__all__ = ["DIMENSIONS", "dimensions_of"]

_LATERALITY = "Laterality & Bilateral Symmetry"
_LONGITUDINAL = "Longitudinal (Vertical) Position"
_DEPTH = "Anterior-Posterior (Depth) Relations"
_CENTRICITY = "Medial-Lateral Orientation (Centricity)"
_ADJACENCY = "Adjacency & Containment"
_EXTENT = "Spatial Extent & Boundaries"

_WORDS = {
    _LATERALITY: (
        r"right|left|both|bilateral\w*|unilateral\w*|lateralit\w*|sides?|hemithora\w+|a?symmetr\w*|"
        r"lingul\w*|lungs?|"
        r"either|axilla\w*|contralateral|ipsilateral|kidneys?|adrenal|lobes?"
    ),
    _LONGITUDINAL: (
        r"upper|lower|middle|superior\w*|inferior\w*|vertical\w*|levels?|\w*basal|bases?|apical\w*|"
        r"apex\w*|apices|"
        r"apico\w*|poles?|subcarinal|supraclavicular|suprahilar|infra\w+|abdom\w+|distal|proximal|"
        r"cranial|caudal|"
        r"craniocaudal|longitudinal|zones?|heights?|scolio\w*|disc"
        r" distances|ascending|descending|\w+oinferior|end|"
        r"lingul\w*|[tl]\d+|dome|above|below|highest|lowest|top|bottom|hiatal|lobes?"
    ),
    _DEPTH: (
        r"anterior\w*|posterior\w*|antero\w*|postero\w*|apicoposterior|pre|prevascular|retro\w*|"
        r"ventral\w*|dorsal\w*|"
        r"front|behind|back|depth|presternal|prevertebral|pretracheal|precarinal|alignments?"
    ),
    _CENTRICITY: (
        r"medial\w*|cent(?:er|re)|peripher\w*|hil(?:um|us|i|ar)|posterolateral|anterolateral|"
        r"paratrach\w*|alignments?|"
        r"lateral|laterally|laterobasal|mediobasal|midline|central\w*|parahilar|perihilar|"
        r"subcarinal|mediastin\w+|"
        r"subpleural|trachea\w*|bronchi|centric\w*|paramediastinal|axis|orientation"
    ),
    _ADJACENCY: (
        r"where|within|adjacent|around|contain\w*|surround\w*|near|neighbo\w*|relationship|"
        r"relative|next|between|"
        r"inside|walls?|coronary|plaques?|accompan\w*|contact|subpleural|perivascular|in"
        r" relation|continu\w*|"
        r"segments?|lymph nodes?|adrenal|gland|encircl\w*|what is the location|"
        r"which (?:lobe|structure|organ|segment|part|region|area|compartment)"
    ),
    _EXTENT: (
        r"confined|diffuse\w*|extents?|extend\w*|extension|fissures?|spread|throughout|boundar\w*|"
        r"thickness|catheter|"
        r"limited|widespread|span\w*|reach\w*|distances?|normal|crossing|encircl\w*|cover\w*|"
        r"occup\w*|fills?|"
        r"how (?:large|big|wide|far|long)|size of|dimensions of|(?:antero\w+|transverse)"
        r" diameter|cm"
    ),
}
_UNLESS = {
    _ADJACENCY: (
        r"midline|(?:more )?prominent\w*|(?:one )?sides?|unilateral\w*|bilaterally|vertical|one or"
        r" both|laterality|"
        r"hemithorax|on the (?:right|left)\.?$|diffuse\w*|both lungs\.?$|both lungs,"
        r" especially|effusion|emphysematous"
    )
}
"""Words by which a question is about something else, though it also asks where."""

DIMENSIONS = tuple(_WORDS)
_HAS = {name: re.compile(rf"\b(?:{words})(?!\w)") for name, words in _WORDS.items()}
_LACKS = {name: re.compile(rf"\b(?:{words})(?!\w)") for name, words in _UNLESS.items()}


def dimensions_of(question: str, answer: str) -> tuple[str, ...]:
    """Every dimension the words of question or answer speak of; none if none.

    The words were chosen with the released labels in view, so agreement with those labels is no
    independent test; `benchmarks/text.py` prints it. Weakest where the labels are least consistent:
    adjacency and extent.
    """
    text = f"{question} {answer}".lower()
    return tuple(
        name
        for name in DIMENSIONS
        if _HAS[name].search(text) and not (name in _LACKS and _LACKS[name].search(text))
    )
