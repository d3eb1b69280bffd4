"""The conversation that the benchmark holds: three tool turns and a final JSON text."""

from tests.support.provider.script import Say, Use, UseTools, by_turn

TOOLS = ("find_order", "check_stock", "issue_refund")

FOUR_CALL = by_turn(
    UseTools(Use("find_order", {"order_id": "A-1001"}), text="Let me look at the order."),
    UseTools(Use("check_stock", {"sku": "KETTLE-2", "warehouse": "north"})),
    UseTools(Use("issue_refund", {"order_id": "A-1001", "amount": 49.9, "reason": "out of stock"})),
    Say('{"order_id": "A-1001", "status": "refunded", "amount": 49.9}'),
)
