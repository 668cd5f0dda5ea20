"""Sentences that only greet, thank or offer help, left out before a reply is read."""

from __future__ import annotations

import re

__all__ = ["without_courtesies"]

# "Let me know if anything is unclear" would otherwise set a condition and a doubt. A sentence with
# a colon or a digit may hold the answer, and stays.
_COURTESY = re.compile(
    r"(?:^|(?<=[.!?] )|(?<=\n))\(?"
    r"(?:thank you|thanks|many thanks|please (?:do not hesitate|don't hesitate|let me know|feel"
    r" free|note|bear|"
    r"treat|consult|see|be aware)|feel free|do not hesitate|don't hesitate|let me know|"
    r"should you (?:need|require|have|wish|want)|"
    r"if you(?:'d| would| have| need| want| require| wish| like)|i hope (?:this|that|you|it)|i do"
    r" hope|hope this|"
    r"i trust (?:this|that|you)|wishing you|best (?:wishes|regards)|kind regards|"
    r"have a (?:nice|great|good|lovely|wonderful)|"
    r"i(?:'d| would) be (?:glad|happy|delighted|honou?red|pleased) to|"
    r"i(?:'m| am) (?:glad|happy|pleased) to (?:help|assist)|"
    r"happy to (?:help|elaborate|explain|provide)|what an? [a-z]+ (?:question|case|scan|image)|"
    r"good question|great question|"
    r"it(?:'s| is) (?:my|always a) pleasure|with pleasure|my pleasure|how fun|you(?:'re| are)"
    r" welcome|"
    r"any(?:thing)? (?:else|further)|i(?:'m| am) (?:always )?here (?:to|if))"
    r"[^.!?\n:0-9]*(?:[.!?]+\)?(?= |$|\n)|$)",
    re.IGNORECASE,
)

# "Yes, I can help with that!", "Sure, no worries.", "Yes, I can see the images.": a yes or no that
# answers the request, not the question.
_GRANT = (
    r"(?:yes|yeah|yep|sure(?: thing)?|of course|certainly|absolutely|definitely|ok(?:ay)?|alright)"
)
_ABLE = (
    r"(?:i|we)(?: can| could| will|'ll| would|'d| am able to|'m able to| do)"
    r"(?: (?:certainly|gladly|definitely|happily|indeed|try to|be (?:happy|glad) to))?"
)
_PICTURES = (
    r"(?:the|your|all|these|this|that|every|both)(?: of)?(?: the| your| these)?(?: [a-z]+)?"
    r" (?:images?|pictures?|slices?|scans?|series|files?|attachments?|volumes?|stack|frames?)"
)
_OBLIGING = re.compile(
    rf"(?:^|(?<=[.!?] )|(?<=\n))(?:{_GRANT}[,!.]? {_ABLE} (?:(?:help|assist|take a look|have a"
    r" look|"
    r"walk you through|go through|look into|do that|look at)\b[^.!?\n:0-9]*"
    rf"|(?:see|view|open|access|read|look at) {_PICTURES}"
    r"(?:,? (?:that )?(?:you )?(?:have |were |was )?(?:uploaded|provided|shared|sent|attached))?"
    r"(?: (?:clearly|well|fine|now))?)"
    rf"|{_GRANT}[,!.]? (?:i|we) (?:do )?understand(?: [^.!?\n:0-9]*)?"
    rf"|{_GRANT}[,!.]? (?:(?:i|we)(?:'m|'d be| am| are| would be) )?(?:happy|glad|pleased"
    r"|delighted) to (?:help|assist|answer|look|take a look|have a look)[^.!?\n:0-9]*"
    rf"|{_GRANT}[,!.]? (?:i|we)(?:'ve| have)? (?:now |already |just |carefully )?"
    r"(?:looked (?:at|through)|reviewed|examined|checked|studied|gone through|been through"
    rf"|scrolled through|inspected) {_PICTURES}(?: carefully| closely| now)?"
    rf"|(?:{_GRANT}[,!.]? )?(?:no (?:worries|problem)(?: at all)?|not a problem))[.!]+(?= |$|\n)",
    re.IGNORECASE,
)


# "Yes, but I'd need thinner slices to be certain": what would confirm an answer sets no condition.
_CONFIRMING = re.compile(
    r",? ?(?:\b(?:but|though|although|and|yet|even though) )?\b(?:i|we|you|one)(?:'d| would) need"
    r" [^.!?;,\n:0-9]{1,80}? (?:to be (?:[a-z]+ )?(?:certain|sure|confident|precise|definitive)"
    r"|(?:to|for) (?:[a-z]+ )?(?:confirm|verify|certainty|confirmation)(?: (?:this|it|that))?)"
    r"(?= ?[.!?;\n]|$)",
    re.IGNORECASE,
)

# "While I can't offer a diagnosis, the spleen …": modesty before an answer that is given.
_MODEST = re.compile(
    r"(?:^|(?<=[.!?] )|(?<=\n))(?:while|although|though|even though) (?:i|we)"
    r" (?:can(?:not|'t| not)|am unable to|'m unable to|am not able to|(?:do not|don't) have the"
    r" (?:ability|means) to) (?:[a-z]+ )?(?:provide|offer|give|make) [^,.;!?\n0-9]{1,80}, ",
    re.IGNORECASE,
)

# "After recomputing the answer is no": how an answer was found says nothing about it.
_PROCEDURE = re.compile(
    r"\b(?:after|upon|on|having|by) (?:carefully |again |re-?)?"
    r"(?:comput|calculat|measur|check|count|review|inspect|assess|examin|verify|scroll|compar)ing"
    r"(?: (?:it|this|them|again|everything|through))?"
    r"(?: (?:the|all|both|these) (?:images?|slices?|stack|volumes?|series|frames|sides))?,? "
    r"(?=(?:the|my|i|it) )",
    re.IGNORECASE,
)


def without_courtesies(text: str) -> str:
    """The text without such sentences.

    All of it if nothing else is left, but for a sentence that only grants the request: its yes is
    no answer.
    """
    text = _PROCEDURE.sub("", text)
    asked_for = _OBLIGING.sub(" ", _MODEST.sub("", text))
    rest = _COURTESY.sub(" ", _CONFIRMING.sub("", asked_for))
    if rest == text:
        return text
    rest = re.sub(r" {2,}", " ", rest).strip()
    return rest if re.search(r"\w", rest) else asked_for.strip()
