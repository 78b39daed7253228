"""Numbers that a mechanism may contain: how they are written, and the largest of them."""

#: No length, mass or inertia of a machine is larger (the sun has 2e30 kg), and the squares and
#: determinants of what is below cannot overflow.
LARGEST = 1e30


def decimal(text: str) -> float:
    """Return the number that a text states: ASCII digits, a point, an exponent; ``inf`` and ``nan`` too.

    Every text of a user is read here. Python itself reads more: ``1_000``, and digits of other scripts.

    Raises
    ------
    ValueError
        It is no number.
    """
    if "_" in text or not text.isascii():
        raise ValueError("no number")
    return float(text)
