"""Models that answer the examples' scenarios and playbooks well: what stands in for a provider where a key is named."""

import json

from tests.support.byop_project import requested_check, verdict
from tests.support.provider import Answer, ProviderRequest, Say, Script, Use, UseTools, by_turn

BOOKING = by_turn(
    UseTools(
        Use(
            "search_flights",
            {"origin": "SFO", "destination": "JFK", "depart": "2027-03-15", "return": "2027-03-20"},
        )
    ),
    UseTools(Use("book_flight", {"flight_id": "B6-0916"})),
    UseTools(Use("get_booking_confirmation", {"booking_id": "BK-7741"})),
    Say('{"flight": "B6-0916", "price": 412, "confirmation_id": "QWERTZ"}'),
)
REFUND = by_turn(
    UseTools(Use("find_order", {"order_id": "A-1001"})),
    UseTools(Use("find_order", {"order_id": "A-1001"})),
    UseTools(
        Use("issue_refund", {"order_id": "A-1001", "sku": "KETTLE-2", "quantity": 1, "amount": 49.9}),
    ),
    Say("We have refunded 49.90 dollars for one kettle; it takes about five days. Shipping is not refunded."),
)
ORDER = by_turn(
    UseTools(Use("find_order", {"number": 1042})),
    Say("Order 1042 is on its way: it is in Lyon."),
)
CHOICES: dict[str, Answer] = {
    "How many of KETTLE-2 do you have?": UseTools(Use("find_product", {"sku": "KETTLE-2"})),
    "Keep one TOASTER-1 for me.": UseTools(Use("reserve", {"sku": "TOASTER-1"})),
    "Is KETTLE-2 available?": UseTools(Use("find_supplier", {"sku": "KETTLE-2"})),
}
QUOTES = {
    "assumption_disclosure": "This review assumes that German law and the GDPR apply",
    "certainty_language": "the clause appears to meet what\nArticle 28(2) asks for",
    "escalation_signal": "Have outside counsel\nreview clause 11 before signature",
    "unchecked_areas_disclosure": "Annex II with the security measures was not provided",
}
"""Of examples/outputs/dpa_review.md."""


def stand_in(request: ProviderRequest) -> Answer:
    return _script(request)(request)


def _script(request: ProviderRequest) -> Script:
    if "find_supplier" in request.tools:
        return lambda request: CHOICES.get(request.last_user, Say("We are open until six."))
    if "search_flights" in request.tools:
        return BOOKING
    if "issue_refund" in request.tools:
        return REFUND
    if "find_order" in request.tools:
        return ORDER
    if "one word" in request.system:
        return lambda _: Say("Billing")
    return _judge if "The rubric:" in request.last_user else _evaluator


def _judge(_asked: ProviderRequest) -> Answer:
    return Say(json.dumps({"passed": True, "reason": "The answer says the amount and the days."}))


def _evaluator(request: ProviderRequest) -> Answer:
    return Say(verdict("pass", QUOTES[requested_check(request)], notes="The passage says so."))
