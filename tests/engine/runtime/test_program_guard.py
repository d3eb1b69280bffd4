"""The guard of programs knows which process groups are left."""

from salvo.engine.runtime.program_guard import left_groups


def test_a_group_is_left_until_it_is_said_to_have_ended() -> None:
    assert left_groups(["+7\n", "+8\n", "-7\n", "-9\n"]) == {8}
