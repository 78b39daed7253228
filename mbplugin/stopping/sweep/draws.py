"""Random numbers of many stops at once: those that ``numpy.random.default_rng([seed, k])`` draws for each stop k.

A generator is created per stop, so that a stop depends only on the seed and its number; its creation takes longer than
its numbers. Here the states of all generators are computed as arrays: NumPy's ``SeedSequence``, which mixes seed and
number in 32-bit words, and PCG64 (O'Neill 2014), whose n-th state follows from the first in one multiplication and one
addition modulo 2¹²⁸.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mbplugin.model.spatial import AnyArray, Array

#: Constants of the hash and of the mixing of ``SeedSequence``, and the number of its words.
_INIT_A, _MULT_A, _INIT_B, _MULT_B = 0x43B0D7E5, 0x931E8875, 0x8B51F9DD, 0x58F38DED
_MIX_LEFT, _MIX_RIGHT, _POOL = np.uint32(0xCA01F9DD), np.uint32(0x4973F715), 4
#: Multiplier of PCG64.
_MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
_32, _64, _128 = (1 << 32) - 1, (1 << 64) - 1, (1 << 128) - 1
_HALF, _LOW = np.uint64(32), np.uint64(_32)
#: A 128-bit number as its high and low 64 bits.
_Wide = tuple[AnyArray, AnyArray]


def words_for(seed: int, numbers: AnyArray, count: int) -> AnyArray:
    """Return the first ``count`` outputs (k, count) of 64 bits of ``default_rng([seed, k])`` for k in numbers (k,)."""
    state, increment = _seeded(seed, numbers)
    factors, terms = zip(*_jumps(count), strict=True)
    high, low = _plus(_times(_wide(factors), state), _times(_wide(terms), increment))
    turned, by = high ^ low, high >> np.uint64(58)
    # a shift by 64 is undefined
    return np.asarray((turned >> by) | (turned << ((np.uint64(64) - by) & np.uint64(63))))


def doubles(words: AnyArray) -> Array:
    """Return the numbers (k, n) in [0, 1) that generators make of their outputs, words (k, n)."""
    return np.asarray((words >> np.uint64(11)) * 2.0**-53)


def integers_below(most: int, words: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Return the integers (k,) below ``most`` that generators make of words (k,), and the mask (k,) of those accepted.

    The words are first outputs. A generator takes the low half of its output, then the high half; where both are
    rejected, it would take more.
    """
    found, accepted = np.zeros(len(words), dtype=np.int64), np.zeros(len(words), dtype=bool)
    least = np.uint64(((1 << 32) - most) % most)
    for half in (words & _LOW, words >> _HALF):
        product = half * np.uint64(most)
        fits = ~accepted & ((product & _LOW) >= least)
        found[fits] = (product >> _HALF)[fits].astype(np.int64)
        accepted |= fits
    return found, accepted


# The seeds of the generators.


def _seeded(seed: int, numbers: AnyArray) -> tuple[_Wide, _Wide]:
    """Return state before the first output and increment of the generators, (k, 1) each, for ``numbers`` (k,)."""
    own = [seed >> shift & _32 for shift in range(0, max(seed.bit_length(), 1), 32)]
    entropy = [np.full(len(numbers), word, dtype=np.uint32) for word in own]
    first, second, third, fourth = _generated(_mixed([*entropy, numbers.astype(np.uint32)]))
    initial, increment = (first[:, None], second[:, None]), (third[:, None], fourth[:, None])
    increment = (increment[0] << np.uint64(1)) | (increment[1] >> np.uint64(63)), increment[1] << np.uint64(1)
    increment = increment[0], increment[1] | np.uint64(1)
    return _plus(_times(_wide([_MULTIPLIER]), _plus(initial, increment)), increment), increment


def _mixed(entropy: list[AnyArray]) -> list[AnyArray]:
    """Return the pool of ``SeedSequence``, four arrays (k,) of 32 bits, from the words of the entropy, (k,) each."""
    constant = _INIT_A

    def hashed(value: AnyArray) -> AnyArray:
        nonlocal constant
        value, constant = value ^ np.uint32(constant), constant * _MULT_A & _32
        value = value * np.uint32(constant)
        return np.asarray(value ^ (value >> np.uint32(16)))

    def mixed(x: AnyArray, y: AnyArray) -> AnyArray:
        result = _MIX_LEFT * x - _MIX_RIGHT * y
        return np.asarray(result ^ (result >> np.uint32(16)))

    zero = np.zeros_like(entropy[0])
    pool = [hashed(entropy[n] if n < len(entropy) else zero) for n in range(_POOL)]
    for source in range(_POOL):
        for n in range(_POOL):
            if n != source:
                pool[n] = mixed(pool[n], hashed(pool[source]))
    for word in entropy[_POOL:]:
        for n in range(_POOL):
            pool[n] = mixed(pool[n], hashed(word))
    return pool


def _generated(pool: list[AnyArray]) -> Iterator[AnyArray]:
    """Yield four arrays (k,) of 64 bits from a pool, low words first."""
    constant, words = _INIT_B, []
    for n in range(2 * _POOL):
        value, constant = pool[n % _POOL] ^ np.uint32(constant), constant * _MULT_B & _32
        value = value * np.uint32(constant)
        words.append((value ^ (value >> np.uint32(16))).astype(np.uint64))
    for low, high in zip(words[::2], words[1::2], strict=True):
        yield low | (high << _HALF)


# Arithmetic of 128 bits.


def _jumps(count: int) -> Iterator[tuple[int, int]]:
    """Yield factor and term with which state and increment give the state of each of ``count`` outputs."""
    factor, term = 1, 0
    for _ in range(count):
        factor, term = factor * _MULTIPLIER & _128, (term * _MULTIPLIER + 1) & _128
        yield factor, term


def _wide(values: tuple[int, ...] | list[int]) -> _Wide:
    """Return numbers of 128 bits as an array (1, n)."""
    return (
        np.array([[value >> 64 for value in values]], dtype=np.uint64),
        np.array([[value & _64 for value in values]], dtype=np.uint64),
    )


def _plus(a: _Wide, b: _Wide) -> _Wide:
    """Return a + b modulo 2¹²⁸."""
    low = a[1] + b[1]
    return a[0] + b[0] + (low < a[1]), low


def _times(a: _Wide, b: _Wide) -> _Wide:
    """Return a b modulo 2¹²⁸."""
    p, q, r, s = a[1] >> _HALF, a[1] & _LOW, b[1] >> _HALF, b[1] & _LOW
    across = p * s + (q * s >> _HALF)
    middle = q * r + (across & _LOW)
    high = p * r + (across >> _HALF) + (middle >> _HALF)
    return high + a[0] * b[1] + a[1] * b[0], a[1] * b[1]
