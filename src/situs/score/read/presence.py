"""Roundabout ways to say that a finding is there or is not, put into plain ones.

"I looked for edema but found none", "the mass is marked, but the edema isn't", "nothing of the kind
was marked": each is rewritten as a sentence that names the finding ("there is no edema"), which the
grammar of relations reads. Only for questions that ask whether something is there.
"""

from __future__ import annotations

import re

from situs.score.read.prose.content import content_words

__all__ = ["asked_to_exist", "plainly_present"]

_ASKED = re.compile(
    r"(?:(?:did|has) the reader marke?d? (?P<marked>[^,?]+?)"
    r"|according to the reader, does this (?:slice|volume) show (?P<shown>[^,?]+?)"
    r"|(?:is|are) there (?:an? |any )?(?P<exists>[^,?]+?)"
    r"|(?:is|are) (?:an? |any |the )?(?P<seen>[^,?]+?) (?:annotated|present|visible|marked|seen))"
    r"(?: anywhere)?(?: (?:on|in) (?:this|any|the) [a-z ]+)?\?",
    re.IGNORECASE,
)
_NOT_ONLY = re.compile(r"\bnot only ([^.;\n]{1,80}?),? but(?: also)? ", re.IGNORECASE)
_SURE = re.compile(
    r"\b(?:there(?:'s| is)|i have) (?:no|little) (?:doubt|question)"
    r"(?: (?:in my mind|about (?:it|this)|at all))?[:,]? (?:that )?",
    re.IGNORECASE,
)
_SOUGHT = re.compile(
    r"\b(?:i|we)(?:'ve| have)? (?:looked|searched|checked|scanned) (?:carefully |hard |closely )?"
    r"for (?P<what>[^.,;\n]{2,60}?),? (?:(?:but|yet|and) )+(?:i |we )?"
    r"(?:found|saw|could (?:only )?(?:find|see)|find|see) "
    r"(?:(?P<none>none|nothing|no [a-z]+)|it|one|some|several)(?= ?(?:[.,;!\n]|$))",
    re.IGNORECASE,
)
_SEEN = r"(?:marked|annotated|seen|present|visible|found|shown|labell?ed|identified|noted)"
_NOTHING = re.compile(
    r"\bno (?:findings|abnormalities|annotations|marks|lesions|changes)(?: at all)?"
    rf" (?:were|are|have been|had been) {_SEEN}"
    r"(?![^.;\n]*\b(?:but|except|other|others|apart|besides|than|only)\b)"
    rf"|\b(?:nothing|none)(?: of (?:the|that) (?:kind|sort)| like (?:it|that)| at all)?"
    rf" (?:is|was|has been|had been|were) {_SEEN}(?! (?:but|except|other|apart|besides))"
    rf"|\b(?:the reader|they) (?:left|kept) (?:this|the) [a-z]+ (?:unmarked|blank|empty)"
    rf"|\b(?:the reader|they) (?:marked|annotated|noted) nothing(?! (?:but|except|else|other))"
    rf"|\bthere(?: is|'s) nothing (?:marked|to mark|annotated|to see)",
    re.IGNORECASE,
)


# "Nothing annotated that would suggest a tear": it suggests none.
_THAT_WOULD = re.compile(
    r"\b(?P<nothing>nothing[^.,;:!?\n]{0,40}?|no [^.,;:!?\n]{1,60}?) (?:that|which)"
    r" (?:would|could|might) (?:suggest|indicate|represent|point to"
    r"|be (?:consistent|in keeping) with)\b",
    re.IGNORECASE,
)


# "…, so a cyst would not have been marked": what the reader did follows from what is seen.
_WOULD_HAVE = re.compile(
    r"(?P<so>\b(?:so|thus|hence|therefore)\b[^.,;:!?\n]{0,60}?) would (?P<not>not |never )?"
    r"(?:have been|be) (?=(?:marked|annotated|noted|recorded|labell?ed)\b)",
    re.IGNORECASE,
)


# "High signal consistent with an effusion": what is seen, and what it is evidence of.
_EVIDENCE = (
    r"(?:(?:consistent|compatible|in keeping|in line) with|suggestive of|suggests|suggesting"
    r"|indicative of|indicates|indicating|typical (?:of|for)|characteristic (?:of|for)"
    r"|diagnostic of|representing|represents|features of|signs of|evidence of|points to|pointing to"
    r"|to suggest|to indicate)"
)
_EVIDENT = re.compile(
    r"(?:^|(?P<comma>,)|(?<=[.;!?\n]))(?P<seen>[^.,;:!?\n]{0,160}?)\b"
    rf"(?P<of>{_EVIDENCE}) (?P<what>[^.;,:!?\n]{{2,80}})(?P<rest>[^.;!?\n]{{0,160}})",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\b(?:may|might|could|would|should|can|possibly|perhaps|maybe|if|whether|unless|unclear|if any"
    r"|rather|else|or|unlikely|hardly|barely|doubt\w*|question\w*|equivocal|previous\w*|prior"
    r"|but|although|though|despite|except|however|instead)\b",
    re.IGNORECASE,
)
# "I can identify a bright area": that it can be seen is no doubt.
_ABLE = re.compile(
    r"\b(?:i|we|you|one) can (?:clearly |also |indeed )?(?=(?:see|identify|make out|find|detect"
    r"|recogni[sz]e|appreciate|note|observe)\b)",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:no|not|nothing|none|never|without|absence|absent|lacks?|neither|nor|cannot)\b|n't\b",
    re.IGNORECASE,
)


def _evident(match: re.Match[str]) -> str:
    """A clause on evidence as one on what is there; as it is where its scope is not plain."""
    if (
        _UNSURE.search(_ABLE.sub(" ", match[0]))
        or _DENIED.search(match["what"])
        or _DENIED.search(match["rest"])
    ):
        return match[0]
    denials = len(_DENIED.findall(match["seen"]))
    if denials > 1:
        return match[0]
    head = ". " if match["comma"] else " " if match.start() else ""
    return f"{head}there is {'no ' if denials else ''}{match['what'].strip()}"


def _parted(match: re.Match[str]) -> str:
    """A denial and what is there instead as two sentences, unless doubt follows."""
    return match[0] if _UNSURE.search(match["other"]) else f"{match['none']}.{match['other']}"


# "The menisci look normal" says that they are.
_LOOKS_HEALTHY = re.compile(
    r"\b(?:look|appear|seem)(?P<one>s)?(?: to be)?(?= (?:[a-z]+ly )?(?:normal|intact|unremarkable"
    r"|preserved|healthy)\b)",
    re.IGNORECASE,
)
# "Both menisci have normal morphology and signal" says so, too.
_QUALITY = (
    r"(?:morphology|signal(?: intensity)?|appearance|shape|intensity|architecture|contours?"
    r"|thickness|structure|configuration|outlines?)"
)
_HAS_HEALTHY = re.compile(
    r"\b(?:(?P<one>has|shows|demonstrates|displays|exhibits)|have|show|demonstrate|display"
    r"|exhibit|(?P<of>(?:is|are) of))(?: an?)?(?: (?:entirely|completely|perfectly))?"
    rf" normal(?: [a-z]+)? {_QUALITY}(?:(?:,| and|, and)(?: normal)? {_QUALITY})*"
    r"(?= ?(?:[.,;!\n]|$))",
    re.IGNORECASE,
)
# "Neither an effusion nor a tear is seen."
_NEITHER = re.compile(
    r"\bneither (?:an? |the )?(?P<one>[a-z][a-z -]{2,40}?)"
    r" nor (?:an? |the )?(?P<two>[a-z][a-z -]{2,40}?)(?: (?:is|are|was|were)"
    rf"(?: {_SEEN})?)?(?: (?:here|(?:on|in) (?:this|the) [a-z]+))?(?= ?(?:[.,;!\n]|$))",
    re.IGNORECASE,
)
# "The only abnormality is a cyst."
_ONLY = re.compile(
    r"\bthe only (?:finding|abnormality|annotation|change|thing)(?: (?:annotated|marked|seen"
    r"|visible|here))?(?: (?:on|in) (?:this|the) [a-z]+)? is (?:an? |the )?(?P<what>[a-z][a-z -]*)",
    re.IGNORECASE,
)
# "The slice shows only a cyst", "only a cyst is marked".
_NO_FINDING = (
    r"(?!(?:on|in|at|if|when|half|part|parts|some|one|to|under|with|by|from|that|what|it|them|left"
    r"|right|upper|lower|normal|artefacts?|artifacts?)\b)"
)
_IS_SEEN = r" ?(?:is|are|was|were) (?:marked|annotated|seen|visible|present|shown)\b"
_SHOWS_ONLY = re.compile(
    r"(?:^|(?<=[.;,\n] )|(?<=[.;,\n]))"
    r"(?:(?P<shown>(?:the|this) (?:slice|image|scan|volume|picture|reader|study)"
    r" (?:shows|contains|depicts|has|marked|annotated|displays) (?:only|nothing but|just)"
    r"|i (?:can )?(?:only|just) see|the only thing (?:i (?:can )?see|marked|annotated) is)|only)"
    rf" (?:an? |the )?{_NO_FINDING}"
    r"(?P<what>(?:(?!(?:of|signal|changes?|area|something|anatomy)\b)[a-z][a-z-]* ?){1,4}?)"
    rf"(?(shown)|(?={_IS_SEEN}))(?:{_IS_SEEN})?"
    r"(?: ?(?:here|(?:on|in) (?:this|the) [a-z]+))?(?= ?(?:[.,;!\n]|$))",
    re.IGNORECASE,
)
# "The left lobe is clear."
_CLEAR = re.compile(
    r"(?P<subject>(?:^|(?<=[.;,\n]))[^.;,\n]{1,80}? (?:is|are))(?: [a-z]+ly)? clear(?= ?(?:[.,;!\n]"
    r"|$))",
    re.IGNORECASE,
)
_POINTING = re.compile(r"\b(?:it|that|this|answer)$", re.IGNORECASE)
# "Impression: meniscal tear." says that there is one.
_UNDER_HEADING = re.compile(
    r"(?:^|(?<=[.;\n]))(?P<space> ?)(?:impression|findings?|diagnosis|conclusion|assessment):"
    r" (?=[a-z])(?!(?:the|this|that|there|it|i|we|yes|no|not|none|normal)\b)"
    r"(?![^.;\n]{0,200}\b(?:is|are|was|were|has|have|see|shows?|yes|no)\b)",
    re.IGNORECASE,
)


# "No such lesion was marked."
_SUCH = re.compile(
    r"\b(?P<no>no such|such an?) (?P<noun>[a-z]+)\b"
    r"(?= ?(?:[.,;!\n]|$)| (?:is|was|has|on|in|can|here)\b)",
    re.IGNORECASE,
)
_THING = frozenset({"thing", "finding", "lesion", "abnormality", "annotation", "change", "label"})


def _such(match: re.Match[str], bare: str) -> str:
    """What is asked for by its name, where "such a …" can mean nothing else."""
    noun = match["noun"].lower()
    if noun not in _THING and noun != bare.split()[-1].lower():
        return match[0]
    return f"{'no' if match['no'].lower().startswith('no') else 'a'} {bare}"


def _asked_for(question: str) -> str:
    """What a question asks whether it is there ("meniscus tear"); empty if it asks for
    something else."""
    asked = _ASKED.match(question.strip())
    subject = next(filter(None, asked.groups())).strip() if asked else ""
    return re.sub(r"^(?:an?|any|the|some) ", "", subject, flags=re.IGNORECASE)


def asked_to_exist(question: str) -> str:
    """The question "is X annotated on this slice?" as "is there an X on this slice?"; empty for
    others."""
    asked = _ASKED.match(question.strip())
    if asked is None or asked["exists"]:
        return ""
    where = re.search(r"(?: (?:on|in) (?:this|any|the) [a-z ]+)?\?", asked[0])
    return f"Is there a {_asked_for(question)}{where[0] if where else '?'}"


def _alone(match: re.Match[str], bare: str) -> str:
    """What is there alone as what is there, or as the lack of what is asked for."""
    asked, told = set(content_words(bare)), set(content_words(match["what"]))
    if asked <= told:
        return f"there is a {match['what']}"
    return match[0] if asked & told else f"there is no {bare}"


def _clear(match: re.Match[str], bare: str) -> str:
    """ "The lobe is clear" as "is normal"; "the tear is clear" says that it is there."""
    subject = match["subject"].rsplit(" ", 1)[0]
    finding = bare.split()[-1].lower() in subject.lower()
    return match[0] if finding or _POINTING.search(subject) else f"{match['subject']} normal"


def _verb(match: re.Match[str]) -> str:
    return match["of"].split(" ")[0] if match["of"] else "is" if match["one"] else "are"


def plainly_present(plain: str, question: str) -> str:
    """The reply with such sentences rewritten; as it is where the question asks something else."""
    bare = _asked_for(question)
    if not bare:
        return plain
    plain = _SUCH.sub(lambda match: _such(match, bare), plain)
    plain = _LOOKS_HEALTHY.sub(lambda match: "is" if match["one"] else "are", plain)
    plain = _HAS_HEALTHY.sub(lambda match: f"{_verb(match)} normal", plain)
    plain = _NEITHER.sub(r"there is no \g<one>. there is no \g<two>", plain)
    plain = _ONLY.sub(lambda match: _alone(match, bare), plain)
    plain = _SHOWS_ONLY.sub(lambda match: _alone(match, bare), plain)
    plain = _CLEAR.sub(lambda match: _clear(match, bare), plain)
    plain = _UNDER_HEADING.sub(r"\g<space>there is ", plain)
    plain = _SURE.sub("", plain)
    plain = _NOT_ONLY.sub(r"\1 and ", plain)
    plain = _WOULD_HAVE.sub(lambda match: f"{match['so']} was {match['not'] or ''}", plain)
    plain = _THAT_WOULD.sub(r"\g<nothing> to suggest", plain)
    plain = _EVIDENT.sub(_evident, plain)
    plain = _SOUGHT.sub(
        lambda match: f"there is {'no ' if match['none'] else ''}{match['what']}", plain
    )
    plain = _NOTHING.sub(lambda match: f"there is no {bare}", plain)
    # "No tear, but there's an effusion": what is said of the other finding stands apart as well.
    head = re.escape(bare.split()[-1])
    plain = re.sub(
        rf"(?P<none>(?:^|[.;\n] ?)(?:there is )?no (?:[a-z]+ )?{head}),? (?:but|only|just|though"
        rf"|although)(?P<other> (?:there(?: is|'s)|i (?:do )?see|an? |the )"
        rf"(?![^.;\n]{{0,200}}\b{head}\b)"
        r"[^.;\n]{0,200})",
        _parted,
        plain,
        flags=re.IGNORECASE,
    )
    # "The mass is marked, but the edema isn't": what is said of another finding stands apart.
    return re.sub(
        rf",? (?:but|while|whereas) (?=(?:the |an? |no )?{re.escape(bare)}\b)",
        ". ",
        plain,
        flags=re.IGNORECASE,
    )
