"""Contacts of a call: read from objects or tables, checked and named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from mbplugin.errors import BadUsage, UnknownName, suggestion
from mbplugin.model.mechanism import WORLD, Mechanism
from mbplugin.model.mechanism.contact import MOST_CONTACTS, Contact
from mbplugin.model.scene import require_kind, require_table

#: Keys of a ``[[contact]]`` table.
CONTACT_KEYS = ("body_a", "mu", "point", "normal", "body_b", "name")
ContactLike = Contact | Mapping[str, Any]


def read_contacts(mech: Mechanism, contacts: Iterable[ContactLike]) -> tuple[Contact, ...]:
    """Read contacts, check that every body exists, and name those without a name.

    Parameters
    ----------
    contacts : iterable of Contact or mapping
        A mapping has the keys of a scene's ``[[contact]]``: body_a, the body that is pushed; point (m, link frame of
        body_a); normal (world axes, into body_a); mu; body_b, by default the ground; name.

    Raises
    ------
    UnknownName
        A body does not exist, or a key is unknown.
    BadUsage, BadNumber
        A value is missing or impossible.
    """
    found: list[Contact] = []
    for contact in contacts:
        if len(found) == MOST_CONTACTS:
            raise BadUsage(
                f"there are more than {MOST_CONTACTS} contacts", expected=f"{MOST_CONTACTS} at most"
            )
        read = _from_table(contact) if isinstance(contact, Mapping) else contact
        require_kind("contact", read, Contact, CONTACT_KEYS)
        for name in (read.body, read.on):
            if name not in mech.body_index:
                raise UnknownName(
                    f"a contact names {name!r}, which is not a body of {mech.name!r}",
                    remedy=suggestion(name, [body.name for body in mech.bodies]),
                )
        found.append(read)
    return tuple(named(found, [constraint.name for constraint in mech.constraints()]))


def _from_table(table: Mapping[str, Any]) -> Contact:
    require_table("contact", table, CONTACT_KEYS, 0.8)
    body = table["body_a"]
    for key in ("mu", "point", "normal"):
        if key not in table:
            raise BadUsage(f"the contact of {body!r} has no {key}", expected="body_a, mu, point and normal")
    try:
        point, normal = (np.array(table[key], dtype=float) for key in ("point", "normal"))
        mu = float(table["mu"])
    except (TypeError, ValueError):
        raise BadUsage(
            f"the contact of {body!r} has a point, a normal or a mu that is not a number",
            expected="three numbers each, and one of mu",
        ) from None
    return Contact(str(table.get("name", "")), str(body), point, normal, mu, str(table.get("body_b", WORLD)))


def named(contacts: Iterable[Contact], taken: Iterable[str] = ()) -> Iterator[Contact]:
    """Yield the contacts, those without a name as ``contact BODY``, numbered if the body has several."""
    own = list(contacts)
    used = {*taken, *(contact.name for contact in own)}
    unnamed = Counter(contact.body for contact in own if not contact.name)
    number: Counter[str] = Counter()
    for contact in own:
        if contact.name:
            yield contact
            continue
        name = f"contact {contact.body}"
        while name in used or unnamed[contact.body] > 1:
            number[contact.body] += 1
            name = f"contact {contact.body} {number[contact.body]}"
            if name not in used:
                break
        used.add(name)
        yield replace(contact, name=name)
