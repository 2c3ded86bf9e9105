"""What moved is said in words."""

from zwang.model.moved import Moved


def test_both_are_said_where_both_moved():
    words = str(Moved(0.5, "body 'a'", 0.1, "body 'b'", 2.0))
    assert (
        words == "to put the start together, body 'a' was moved by 0.5, 25 % of the whole, and body 'b' turned by 5.73°"
    )
    assert str(Moved(0.5, "body 'a'", 0.1, "body 'a'", 2.0)).endswith("of the whole, and turned by 5.73°")
