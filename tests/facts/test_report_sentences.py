"""What sentences of a report prove, read by hand."""

from __future__ import annotations

import pytest

from situs.errors import SitusError
from situs.facts import Quoted
from situs.facts.reports import (
    LOCATED,
    Report,
    ReportLedger,
    place_of,
    proposal_problem,
    quote_span,
    report_problem,
)


def places(findings: str, impression: str = "") -> dict[tuple[str, str], dict[str, str]]:
    """Finding and organ → place, as the report proves it."""
    ledger = ReportLedger(Report("r", findings, impression), "s")
    return {pair: place_of(ledger.fact(LOCATED, *pair)) for pair in ledger.located()}


@pytest.mark.parametrize(
    ("sentence", "pair", "place"),
    [
        (
            "A 3 mm nodule is observed in the anterior segment of the right lung upper lobe.",
            ("nodule", "lung"),
            {"side": "right", "lobe": "upper", "segment": "anterior"},
        ),
        (
            "Linear atelectasis areas are seen in the left lung lingular segment.",
            ("atelectasis", "lung"),
            {"side": "left", "lobe": "upper"},
        ),
        (
            "Atelectasis in the middle lobe.",
            ("atelectasis", "lung"),
            {"side": "right", "lobe": "middle"},
        ),
        (
            "Consolidation is observed in the posterobasal segment of the left lung.",
            ("consolidation", "lung"),
            {"side": "left", "lobe": "lower", "segment": "posterobasal"},
        ),
        ("There is bilateral pleural effusion.", ("pleural effusion", "lung"), {"side": "both"}),
        (
            "A stone in the upper pole of the left kidney.",
            ("stone", "kidney"),
            {"side": "left", "part": "upper"},
        ),
        (
            "A cyst was observed in the right lobe of the liver.",
            ("cyst", "liver"),
            {"side": "right", "part": "right"},
        ),
        (
            "Height loss is observed in the T8 vertebra.",
            ("height loss", "vertebra"),
            {"level": "T8"},
        ),
    ],
)
def test_a_plain_sentence_proves_a_place(
    sentence: str, pair: tuple[str, str], place: dict[str, str]
) -> None:
    assert places(sentence) == {pair: place}


@pytest.mark.parametrize(
    "sentence",
    [
        "A nodule in the right lung upper lobe (metastasis?).",
        "Findings in the right lung were evaluated in favor of consolidation.",
        "The consolidation observed in the right lung in the previous examination has regressed.",
        "No pleural effusion was detected on the right.",
        "Pleural effusion was not observed in the left hemithorax.",
        "Postoperative atelectasis in the left lung lower lobe.",
        (
            "Nodules are observed in the upper lobe of the right lung and the lower lobe of the"
            " left lung."
        ),
        "Pleural effusion on the right and atelectasis in the lower lobe.",
        "A nodule in the right lung lingular segment.",
        "A nodule in the middle lobe of the left lung.",
        "Atheromatous plaques in the left anterior descending artery.",
        "Height loss is observed in the T4 and T5 vertebrae.",
        "Compression fracture of the T10–T11 vertebrae.",
        "Compression fracture of the T10-11 vertebrae.",
        "Hemangiomas in the vertebrae T5, 6 and 8.",
        "Nodule in the right middle lobe vs. vessel.",
        "Query consolidation in the right lower lobe.",
        "Consolidation in the left lower lobe cannot be excluded.",
        "Nodule-like appearance in the left lower lobe.",
        "Ground-glass opacity sparing the left lung.",
        "A nodule opposite the left upper lobe.",
        "The nodule lies to the left of the right lower lobe.",
        "Pleural effusion, right > left lung.",
        "The mass in the right lung is larger.",
        "Interval development of atelectasis in the left lower lobe.",
        "Atelectasis is worse in the right lower lobe.",
        "The effusion in the left hemithorax has resolved.",
        "Nodule in the right lobe.",
        "Nodules in the parenchyma on the right.",
        "The right lung, except for a small bulla in the upper lobe, is clear.",
        "Increase in bilateral thyroid gland size, and there are nodules.",
    ],
)
def test_hedged_denied_compared_doubled_or_impossible_sentences_prove_nothing(
    sentence: str,
) -> None:
    assert places(sentence) == {}


@pytest.mark.parametrize(
    "sentence",
    [
        "Nodule in the left upper lobe isn't seen.",
        "The consolidation in the left lower lobe has cleared.",
        "The consolidation in the left lower lobe vanished.",
        "The consolidation in the left lower lobe melted away.",
        "Mass in the right lower lobe was ruled out.",
        "A mass in the right breast was denied.",
        "Stone in the right kidney was passed.",
        "Formerly visible nodule in the left upper lobe.",
        "Her father had a nodule in the right thyroid lobe.",
        "The patient's mother had a mass in the left breast.",
        "An uncle with a cyst in the left kidney.",
        "Ultrasound showed a cyst in the left kidney.",
        "Sonographically a cyst in the left kidney.",
        "An MRI performed elsewhere showed a cyst in the left kidney.",
        "Yesterday's topogram: nodule in the right upper lobe.",
        "The request form mentions a nodule in the right upper lobe.",
        "The referring clinician asks about a nodule in the right upper lobe.",
        "A nodule should be seen in the right upper lobe in such cases.",
        "One would miss a nodule in the right upper lobe.",
        "Bilateral increase in thyroid gland size, nodular lesions with a diameter of 5 mm.",
        "Nodules, less in the left lung.",
        "INDICATION\nNodule in the right upper lobe.",
    ],
)
def test_what_is_over_or_of_another_examination_or_person_proves_nothing(sentence: str) -> None:
    assert places(sentence) == {}


@pytest.mark.parametrize(
    ("stated", "against"),
    [
        ("Nodule in the right upper lobe.", "No nodule was detected in either lung."),
        (
            "Nodule in the right upper lobe.",
            "No nodular or infiltrative lesion was detected in both lung parenchyma.",
        ),
        (
            "Nodule in the right upper lobe.",
            "No mass nodule-infiltration was detected in the lung parenchyma.",
        ),
        ("Nodule in the right upper lobe.", "A second is found in the left lower lobe."),
        ("Nodule in the right upper lobe.", "Another one in the left lower lobe."),
        (
            "Nodule in the right upper lobe.",
            "No effusion was seen and there is a nodule in the left lung.",
        ),
        ("Nodule in the right upper lobe.", "Addendum: the side should read left."),
        ("Nodule in the right upper lobe.", "Both lungs are clear."),
        ("Mass in the right upper lobe.", "The tumor in the left lower lobe."),
        ("Pleural effusion on the right.", "Pleural effusion was not detected."),
        ("Pleural effusion on the right.", "Fluid in the left pleural space."),
        ("Pleural effusion on the right.", "Left hydrothorax."),
        ("A cyst in the left kidney.", "No cyst was detected in the kidneys."),
        ("A cyst in the left kidney.", "Both kidneys are normal."),
        ("A cyst in the right kidney.", "Polycystic kidneys."),
        ("A cyst in the right kidney.", "Two in the left kidney."),
        ("Pleural effusion on the right.", "Left as well."),
        ("Hemangioma in the T7 vertebra.", "Vertebral bodies are normal."),
        ("A cyst in the right kidney.", "A similar lesion is noted contralaterally."),
        ("A stone in the left kidney.", "Right nephrolithiasis."),
    ],
)
def test_what_another_sentence_contradicts_is_not_proved(stated: str, against: str) -> None:
    assert places(stated)
    assert places(f"{stated} {against}") == {}
    assert places(f"{against} {stated}") == {} or against.startswith(
        ("A second", "Another", "Two", "Left as")
    )


@pytest.mark.parametrize(
    "beside",
    [
        "No nodule was detected in the left lung.",
        "No lytic-destructive lesion was detected in bone structures.",
        "No mass or infiltrative lesion was detected in both lungs.",
        "The left lung is clear.",
        "A cyst in the left kidney.",
    ],
)
def test_a_sentence_on_something_else_contradicts_nothing(beside: str) -> None:
    stated = "A nodule is observed in the upper lobe of the right lung."
    assert places(f"{stated} {beside}").items() >= places(stated).items() != {}


def test_another_of_its_kind_elsewhere_makes_it_ambiguous() -> None:
    first = "A nodule is observed in the upper lobe of the right lung."
    assert places(first)
    assert places(f"{first} A nodule is observed in the left lung.") == {}
    assert places(f"{first} There are other nodules.") == {}
    assert places(f"{first} Nodules in the left lung (metastasis?).") == {}, (
        "what is hedged may still be there"
    )
    assert places(f"{first} No nodule was detected in the left lung.") == places(first)
    assert places(first, "Nodule in the right lung.") == places(first)
    assert places(first, "Nodule.") == places(first)
    assert places(first, "Nodule in the left lung.") == {}
    assert (
        places(f"{first} In the left lung nodules were seen, but not clearly discernible before.")
        == {}
    )
    assert places(f"{first} Nodular ground glass densities are observed in the left lung.") == {}
    assert places(first, "Millimetric nodules.") == {}, "the nodule is one of several"
    assert places(f"{first} The trachea is open and no mass was detected.") == places(first)


def test_a_name_within_another_makes_both_ambiguous() -> None:
    band = "Band atelectasis in the middle lobe of the right lung."
    assert places(band)
    assert places(f"{band} Fibroatelectasis in the left lung.") == {}


def test_of_a_further_place_without_a_lobe_the_side_is_left() -> None:
    text = (
        "Ground-glass areas are seen in the upper lobe anterior segment and lateral part of the"
        " left lung."
    )
    assert "lobe" not in places(text).get(("ground glass", "lung"), {})


@pytest.mark.parametrize(
    ("sentence", "place"),
    [
        ("8 mm nodule in the RUL.", {"side": "right", "lobe": "upper"}),
        ("Rt. lung nodule.", {"side": "right"}),
        ("1. Nodule, left lower lobe", {"side": "left", "lobe": "lower"}),
        ("Lungs: 5 mm nodule in the LLL.", {"side": "left", "lobe": "lower"}),
        ("A nodule smaller than 5 mm in the right lung.", {"side": "right"}),
    ],
)
def test_abbreviations_and_lists_are_read(sentence: str, place: dict[str, str]) -> None:
    assert places(sentence) == {("nodule", "lung"): place}


def test_what_stands_under_another_heading_proves_nothing() -> None:
    history = "CLINICAL INFORMATION:\nNodule in the right lung. Cyst in the left kidney."
    assert places(history) == {}
    assert places(f"{history}\nFINDINGS: Bilateral pleural effusion.") == {
        ("pleural effusion", "lung"): {"side": "both"}
    }
    assert places(history, "Bilateral pleural effusion.") == {
        ("pleural effusion", "lung"): {"side": "both"}
    }
    assert places("Comparison: nodule in the left lung.") == {}
    assert quote_span(history, "Cyst in the left kidney") is None
    assert quote_span(f"{history}\n\nA mass.", "A mass", len(history)) is not None


def test_a_size_tells_two_apart_only_if_it_differs_clearly() -> None:
    small, large = (
        "A 5 mm nodule in the right lung upper lobe.",
        "A 14 mm nodule in the left lung lower lobe.",
    )
    assert set(places(f"{small} {large}")) == {("nodule 5 mm", "lung"), ("nodule 14 mm", "lung")}
    assert places(f"{small} A 5.5 mm nodule in the left lung.") == {}
    assert set(places(f"{large} Millimetric nodules in both lungs.")) == {("nodule 14 mm", "lung")}


def test_the_quote_stands_at_its_offsets() -> None:
    report = Report(
        "r", "The trachea is open. A 2.5 mm nodule is seen in the left lung.", "Nodule."
    )
    derivation = ReportLedger(report, "s").fact(LOCATED, "nodule", "lung").derivation
    assert isinstance(derivation, Quoted)
    assert derivation.quote == "A 2.5 mm nodule is seen in the left lung."
    assert report.text[derivation.start : derivation.end] == derivation.quote
    assert derivation.document == report.hash


def test_a_quote_is_found_and_widened_to_its_sentence() -> None:
    text = "One here. A cyst in\n the left kidney; two."
    span = quote_span(text, "cyst IN the left")
    assert span is not None
    assert quote_span(text, "cyst in the right") is None
    assert quote_span(text, " . ") is None


ANTERIOR = "The mass lies anterior to the aorta."
CATHETER = "The catheter ends 2 cm above the carina."
QUOTE = "Bilateral pleural effusion reaching 3 cm, more on the left, is observed."


@pytest.mark.parametrize(
    ("question", "answer", "quote", "problem"),
    [
        ("On which sides is the pleural effusion?", "Both sides", QUOTE, None),
        ("On which side is the pleural effusion?", "On the left", QUOTE, "side"),
        ("Where is the pleural effusion larger?", "On the left", QUOTE, "side"),
        ("On which sides is the pleural effusion?", "Both sides, 4 cm", QUOTE, "number or unit"),
        ("Where is the nodule?", "On the right", "A nodule in the left lung.", "side"),
        ("Is the left effusion the larger?", "No", QUOTE, "denies nothing"),
        ("Does the mass cross the midline?", "No", "The mass does not cross the midline.", None),
        (
            "Does the mass extend to the hilum?",
            "No",
            "The mass extends to the hilum without crossing it.",
            "deny",
        ),
        (
            "Is the mass not in the left lung?",
            "No",
            "The mass is not in the left lung.",
            "by a denial",
        ),
        ("Which lobe has the mass?", "The upper lobe", "No mass in the upper lobe.", "denial"),
        (
            "Which lobe has the mass?",
            "The upper lobe",
            "A mass in the upper lobe isn't seen.",
            "denial",
        ),
        (
            "Which lobe has the mass?",
            "The upper lobe",
            "The mass in the upper lobe melted.",
            "over",
        ),
        (
            "Which lobe has the mass?",
            "The upper lobe",
            "The mass in the upper lobe has cleared.",
            "another examination",
        ),
        (
            "Which kidney has the cyst?",
            "The left kidney",
            "Ultrasound: a cyst in the left kidney.",
            "another exam",
        ),
        ("Which lobe has the mass?", "The upper lobe", "A mass in the upper lobe.", None),
        ("Are the lungs normal?", "No", "The lungs are not normal.", "there or normal"),
        (
            "Where does the report mention the nodule?",
            "Left lung",
            "A nodule in the left lung.",
            "speaks of the report",
        ),
        (
            "Which left lung has the nodule?",
            "The left lung",
            "A nodule in the left lung.",
            "contains its answer",
        ),
        ("What is the diagnosis?", "Sarcoidosis", "Sarcoidosis.", "not spatial"),
        ("Where is the effusion?", "Left lung", "A nodule in the left lung.", "does not speak of"),
        ("Where is the mass?", "Left lung", "A nodule in the left lung.", "does not speak of"),
        (
            "In which lobe is the abscess?",
            "Right upper lobe",
            "A nodule in the right upper lobe.",
            "does not speak of",
        ),
        ("Where is the nodule?", "Right upper lobe", "8 mm nodule in the RUL.", None),
        (
            "Where is the 12 mm nodule?",
            "Right upper lobe",
            "A 12 mm nodule in the right upper lobe.",
            None,
        ),
        (
            "Where is the 21 mm nodule?",
            "Right upper lobe",
            "A 12 mm nodule in the right upper lobe.",
            "number or unit",
        ),
        (
            "Is the nodule in the upper lobe?",
            "Yes",
            "A nodule in the lower lobe.",
            "does not speak of",
        ),
        ("Is the nodule in the lower lobe?", "Yes, it is.", "A nodule in the lower lobe.", None),
        (
            "Are any nodules in the left lung?",
            "Yes",
            "A nodule in the left lung.",
            "there or normal",
        ),
        (
            "In the left lung, were any nodules seen?",
            "No",
            "No nodule in the left lung.",
            "there or normal",
        ),
        (
            "Are both main bronchi open or obstructed?",
            "Open",
            "Both main bronchi are open.",
            "there or normal",
        ),
        (
            "What is the condition of the left lung?",
            "Volume loss",
            "Left lung volume loss.",
            "there or normal",
        ),
        (
            "On which side is the nodule?",
            "Left",
            "A nodule in the right upper lobe and a cyst in the left kidney.",
            "side",
        ),
        (
            "In which organ is the stone?",
            "The kidney",
            "A stone in the gallbladder and one in the kidney.",
            "several",
        ),
        ("In which organ is the stone?", "The gallbladder", "A stone in the gallbladder.", None),
        ("Where are the plaques?", "In the arch", "Plaques in the arch, the carotids.", "several"),
        ("Which lung has the cyst?", "The left lung", "A cyst in the left kidney.", "lung"),
        (
            "Which kidney is smaller?",
            "Left",
            "The right kidney is smaller than the left kidney.",
            "side",
        ),
        ("Which kidney is smaller?", "Left", "The left kidney is smaller.", "compares"),
        (
            "To which side is the trachea displaced?",
            "Right",
            "Trachea displaced to the left by a right mass.",
            "side",
        ),
        (
            "On which side is the mass?",
            "Left",
            "The trachea is displaced to the left by a mass.",
            "moved",
        ),
        (
            "To which side is the trachea displaced?",
            "To the left",
            "The trachea is displaced to the left.",
            None,
        ),
        (
            "Where does the mass lie relative to the aorta?",
            "Posterior",
            "The mass lies anterior to the aorta and posterior to the sternum.",
            "several",
        ),
        ("Where does the mass lie relative to the aorta?", "Anterior", ANTERIOR, None),
        ("Where is the mass?", "Anterior to the aorta", ANTERIOR, None),
        ("Where does the aorta lie relative to the mass?", "Anterior", ANTERIOR, "turns"),
        ("What lies anterior to the mass?", "The aorta", ANTERIOR, "turns"),
        ("Is the mass anterior to the aorta?", "Yes", ANTERIOR, None),
        ("Is the aorta anterior to the mass?", "Yes", ANTERIOR, "turns"),
        (
            "What does the mass inside it compress?",
            "The trachea",
            "The mass compresses the trachea.",
            "'inside'",
        ),
        (
            "Which structure compresses the mass?",
            "The aorta",
            "The mass compresses the aorta.",
            "turns",
        ),
        ("How far above the carina does the catheter end?", "2 cm", CATHETER, None),
        ("How far above the carina does the catheter end?", "20 mm", CATHETER, None),
        ("How far above the carina does the catheter end?", "2 mm", CATHETER, "number or unit"),
        ("How far above the carina does the catheter end?", "2", CATHETER, "number or unit"),
        ("How far above the catheter does the carina end?", "2 cm", CATHETER, "turns"),
        (
            "Which lobe has the nodule?",
            "The upper lobe",
            "Nodule in the upper part of the lower lobe.",
            "direction",
        ),
        (
            "Which lobe has the nodule?",
            "The lower lobe",
            "Nodule in the upper part of the lower lobe.",
            None,
        ),
        (
            "Where is the nodule?",
            "Upper lobe of the right lung",
            "A nodule in the right upper lobe.",
            None,
        ),
        (
            "In which lobe of the left lung is the nodule?",
            "Lower lobe",
            "Nodule in the left lower lobe.",
            None,
        ),
        (
            "In which lung is the fissure?",
            "The right lung",
            "A nodule at the fissure of the right lung.",
            "finding",
        ),
        ("Which lung has the mass?", "Left lung", "The mass spares the left lung.", "'spares'"),
        ("Where is the mass?", "Left kidney", "The mass is far from the left kidney.", "turns"),
        (
            "In which kidney is the mass?",
            "Left kidney",
            "The mass lies near the left kidney.",
            "'near'",
        ),
        (
            "From where does the effusion extend?",
            "The base",
            "Effusion extends from the apex to the base.",
            "turns",
        ),
        (
            "How far does the effusion extend?",
            "From apex to base",
            "Effusion extends from the apex to the base.",
            None,
        ),
        ("At which level is the fracture?", "T8", "Fracture of the T8 vertebra.", None),
        ("At which level is the fracture?", "T8", "Fractures of T8 and L1 vertebrae.", "several"),
        ("In which segment is the cyst?", "Segment 8", "Cysts in segments 4 and 8.", "several"),
        (
            "Is the nodule in the right lung or the left lung?",
            "The right lung",
            "Nodule in the right lung.",
            None,
        ),
        (
            "Is the nodule in the right lung or the left lung?",
            "Yes",
            "Nodule in the right lung.",
            "yes or no",
        ),
        (
            "Which lobe has the nodule?",
            "The upper lobe",
            "Nodule in the upper lobe. Clear bases.",
            "one sentence",
        ),
    ],
)
def test_the_rules_around_a_model(
    question: str, answer: str, quote: str, problem: str | None
) -> None:
    found = proposal_problem(question, answer, quote)
    assert (found is None) == (problem is None), found
    assert problem is None or problem in str(found)


def test_the_rest_of_the_report_must_leave_one_answer() -> None:
    stated = "A lesion of 2 cm in the right lobe of the liver."
    question = "In which lobe of the liver is the 2 cm lesion?"

    def problem(rest: str) -> str | None:
        return report_problem(
            ReportLedger(Report("r", f"{stated} {rest}", ""), "s"), question, 0, len(stated)
        )

    assert problem("The spleen is large. Nodule in the left lung.") is None
    assert problem("A lesion of 2 cm in the left lobe of the liver.") is not None
    assert problem("A second one in the left lobe.") is not None
    assert problem("No lesion was detected in the liver.") is not None
    assert problem("Correction: left.") is not None


@pytest.mark.parametrize(
    "sentence",
    [
        "Nodules in the posterior and anterior segment of the right lung upper lobe.",
        "Nodules in the anterior, posterior segments of the right lung upper lobe.",
        "Nodules in the right lung upper lobe anterior-posterior segments.",
    ],
)
def test_of_several_segments_none_is_named(sentence: str) -> None:
    assert places(sentence) == {("nodule", "lung"): {"side": "right", "lobe": "upper"}}


def test_two_in_one_sentence_prove_nothing() -> None:
    assert (
        places(
            "A 3 mm nodule in the left lung lower lobe and a 5 mm calcified nodule in the"
            " subpleural area."
        )
        == {}
    )


def test_what_spreads_has_no_size_in_its_name() -> None:
    text = (
        "Effusion up to 15 cm in the left pleural space. Effusion of 2 cm in the right pleural"
        " space."
    )
    assert places(text) == {}


@pytest.mark.parametrize(
    "sentence",
    [
        "Nodules in the right lung, the largest of which is in the upper lobe.",
        "Bronchiectasis in the left lung, especially in the lower lobe.",
        "Height losses are observed in the Dh11 vertebra and the L1 vertebra.",
        "Decreased pleural effusion on the left.",
    ],
)
def test_the_worst_place_among_several_is_not_the_place(sentence: str) -> None:
    assert places(sentence) == {}


def test_a_sentence_without_end_is_refused() -> None:
    """Reading takes the square of a sentence's length; a file that is no report must not hang."""
    assert places("A nodule is seen in the liver. " * 200) is not None
    with pytest.raises(SitusError, match="a sentence of"):
        ReportLedger(Report("r", "posterobasal " * 2_000, ""), "s")
