"""What only comparisons with the literature need: no command and no public function uses it.

``elimination``
    The sets of redundant rows that can be dropped, and the λ of each choice (wojtyra2013 §4.4).
``impulse_distribution``
    The impulses of all pairs of a transition, by compliance.
``loop_cuts``
    The projective criterion of each way to cut a loop (blajer1994 §3).
``pair_forces``
    Forces of pairs along physical directions by three solutions that agree (blajer1994 (35)–(38)).
``projective_criterion``
    The criterion of every coordinate, in both of its forms (blajer1994 (23)).
"""
