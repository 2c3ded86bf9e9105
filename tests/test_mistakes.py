"""Mistakes: sentences that know what they are made of, and where they were made."""

from zwang.mistakes import Mistake, Said
from zwang.model.symbols import coordinates


def test_a_mistake_is_its_sentence():
    mistake = Mistake("it is ", 3, who="rod", where=("length",), remedy="give 2")
    assert mistake == "rod: it is 3: give 2"
    assert (mistake.who, mistake.where, mistake.text, mistake.remedy) == ("rod", ("length",), "it is 3", "give 2")
    assert mistake.parts == ("rod", ": ", "it is ", 3, ": ", "give 2")


def test_words_within_words_keep_their_parts():
    x = coordinates("x")
    inner = Said("look at ", x)
    outer = Mistake("kinetic: ", inner)
    assert outer == "kinetic: look at x(t)"
    assert outer.put(lambda part: "x" if part is x else str(part)) == "kinetic: look at x"
