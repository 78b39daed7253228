"""What a word leads to: the name that is meant by an unknown one, found in the texts that describe the known names.

A word of another program, or of the field, is compared with the names of one namespace (the commands, the options of a
command, the parameters of a function, the attributes of a result) and with their own descriptions. Nothing is listed
by hand but the synonyms of the field, so that a new option is found by its help text as soon as it has one. The texts
are read when a wrong call is answered, never before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module, resources
from math import log
from typing import NamedTuple

from mbplugin.phrases import only_near

#: Words that mean the same in this field, a line each. Several words joined by ``_`` are one term. A word may stand in
#: several lines; the symbols are those of equations and of other libraries.
_SYNONYMS = """
pose configuration position coordinate angle posture q qpos pos keyframe joint_angle joint_position joint_state home
velocity speed rate vel qd qvel qdot dq v omega twist joint_velocity rpm
acceleration acc qdd qacc ddq qddot vdot
initial start begin first initial_state initial_condition
qd qd0 v0 dq0 initial_velocity initial_speed initial_rate start_speed start_velocity
q x0 q0 initial_state initial_pose start_pose initial_position initial_configuration
duration time period horizon tend tf until t_final t_end t_max tmax sim_time simulation_time end_time stop_time \
final_time
at instant when moment onset
time t clock timestamp stamp
step dt timestep time_step increment sampling_time sample_time step_size h max_step
torque effort tau moment actuation ctrl control motor_torque joint_force generalized_force joint_effort qfrc \
actuator_force
load force wrench f_ext fext xfrc external external_force external_wrench applied_force
reaction joint_force constraint_force bearing_force bearing_load support_force lagrange_multiplier multiplier lambda \
wrench force internal_force joint_load hinge_force reaction_force
reaction bearing support bearing_load statics
payload workpiece carried_mass attached_mass gripper_mass tool_mass load_mass mass_at_tool point_mass carried \
attached grasped flange_load
mass weight kg massless
inertia inertial
tool tcp end_effector eef flange gripper hand tool_center_point tip tool0 ee
point offset location xyz translation
category cat stop_category
brake braking holding_brake clutch
emergency_stop estop e_stop protective_stop safety_stop halt power_off quick_stop emergency_brake
stop stopping braking halt brake decelerate
stopping_distance braking_distance braking_path overrun overtravel stopping_time stop_distance stop_time \
braking_time stopping_path stop estop
deceleration decel retardation ramp slow_down slowing
delay latency dead_time reaction_time lag
signal trigger stop_request
distance separation minimum_distance safety_distance protective_distance separation_distance safe_distance \
speed_and_separation_monitoring speed_separation_monitoring ssm iso13855 iso_13855 iso15066 ts15066 \
protective_separation
zone stopping_zone braking_zone swept_volume footprint keepout keep_out safety_zone region hazard_zone swept
table lut chart iso10218 iso_10218
random monte_carlo montecarlo stochastic sampling statistical ensemble uncertainty probabilistic
quantile percentile statistics distribution histogram
seed rng random_seed random_state
worst maximum max extreme worst_case upper peak critical largest
search optimize optimise optimization maximize find
calibrate identify fit identification estimate tune regression parameter_estimation system_identification sysid \
fitting
measured measurement experiment recorded test_data experimental
view show draw render display visualize visualise viewer picture gui window scene_view look screenshot image \
snapshot rviz meshcat viz graphic 3d plot
picture image png screenshot snapshot photo figure
film video movie mp4 gif animation record
plot graph chart figure draw curve diagram
replay playback play animate animation rerun
save write export dump store output log record
output out outfile destination result_file output_file
format fmt
convert close export translate transform converter conversion urdf_mjcf urdf_sdf sdf_urdf mjcf_urdf to_mjcf to_sdf \
to_urdf to_usd save_urdf save_mjcf save_sdf write_urdf write_mjcf mjcf_file urdf_file
mjcf mujoco xml
sdf gazebo sdformat gz
usd isaac usda omniverse openusd
load read open parse parser import from_file loader robot model build_model from_urdf from_xml from_sdf from_mjcf \
from_usd plant multibody_plant world environment urdf
lint check validate verify inspect audit analyse examine review sanity diagnose verification validation test quality \
assess linter find_error
analyze analysis mobility rank dof degree_of_freedom overconstraint redundancy gruebler grubler constraint_analysis
finding issue problem warning error defect violation diagnostic
fix repair correct mend autofix heal patch prettify
remedy cure suggestion advice recommendation
select only enable include choose filter
ignore skip disable suppress exclude omit mute without waive allow except whitelist
rule code lint_rule diagnostic_code
severity level fail threshold strict strictness
baseline reference golden earlier previous snapshot
against reference compare_to previous earlier
quiet silent terse mute
verbose debug detailed details
jobs threads workers processes parallel cpu core ncpu nproc concurrency njobs n_jobs
max_seconds timeout budget deadline max_time time_limit wall_time walltime
force overwrite replace clobber
watch monitor live follow observe supervise continuous
config configuration setting preference pyproject
package_dir mesh_dir search_path package_path asset_path ros_package_path include_path mesh_path mesh_folder
folder directory dir path
mesh stl geometry asset
base root floating fixed_base floating_base free_flyer freeflyer free_base anchored bolted mount grounded root_joint
fixed static anchored bolted grounded rigid weld welded attached
free floating flying unanchored
planar 2d plane two_dimensional
tolerance tol eps epsilon accuracy precision threshold rcond
rtol relative_tolerance reltol rel_tol
atol absolute_tolerance abstol abs_tol
integrator solver ode scheme ode_solver runge_kutta time_integration
method algorithm solver decomposition factorization approach technique
formulation dae equations_of_motion baumgarte stabilization constraint_stabilization lagrange
redundancy overconstraint overconstrained overdetermined hyperstatic redundant statically_indeterminate \
rank_deficiency dependent_constraint linearly_dependent rank_deficient excess
mobility dof degree_of_freedom dofs grashof freedom ndof number_of_dof
gruebler grubler kutzbach gruebler_kutzbach grübler mobility
singularity singular dead_point dead_centre dead_center toggle
singular_value sigma svd condition_number conditioning spectrum
self_stress null_space nullspace left_null_space kernel prestress self_equilibrated dependent_row dependent
constraint_matrix constraint_jacobian c_matrix null_space nullspace kernel left_null_space
loop closed_loop closure cycle kinematic_loop closed_chain linkage loop_joint
closure loop_closure cut_joint connect equality weld
constraint equality kinematic_constraint
jacobian j jac geometric_jacobian differential_kinematics frame_jacobian
forward_kinematics fk link_pose link_position frame_pose link_state link_transform position_kinematics \
direct_kinematics tf body_pose cartesian xpos kinematics cartesian_position frame_placement transform_link
inverse_dynamics id rnea newton_euler computed_torque joint_torque required_torque recursive_newton_euler \
joint_effort motor_torque joint_motor
mass_matrix inertia_matrix crba generalized_inertia joint_inertia composite_rigid_body full_m fullm
bias nle nonlinear coriolis centrifugal gravity_torque gravity_compensation nonlinear_effect gravity_vector \
gyroscopic qfrc_bias coriolis_matrix generalized_gravity gravcomp gravity_force
gravity g gravitational
simulate simulation run rollout integrate dynamics forward_dynamics aba simulator step step_simulation drop fall \
propagate mj_step articulated_body forward_simulation motion trajectory
motion trajectory history movement
profile trajectory spline waypoint setpoint motion_law prescribed reference_trajectory
driver motor motion_generator prescribed_motion drive servo position_control
actuator motor drive servo actuated transmission
controller policy control feedback regulator pd pid callback ctrl
equilibrium rest static_equilibrium steady_state settle resting statics static_pose balance at_rest trim \
static_state
modes eigenfrequency natural_frequency vibration eigenmode modal eigenvalue frequency resonance mode_shape eigen \
oscillation normal_mode linearize linearization
linearize linearise state_space linear_model linearisation a_matrix small_signal transfer_function
spring elastic stiffness bushing k compliance
damping damper viscous dashpot viscous_friction d
friction coulomb dry_friction stiction frictionloss friction_loss mu
stiffness compliance elastic flexibility rigidity flexible k
lock freeze block fix_joint fixed_joint frozen immobilize lock_joint fasten locked clamp weld
hold keep maintain clamp
limit joint_limit range bound end_stop lower upper
bound lower upper interval
contact touch stance foot support contact_point
collision overlap interpenetration penetration self_collision
event collision impact switch discontinuity zero_crossing
impact collision impulse shock bump
energy kinetic potential work
misfit misalignment manufacturing_tolerance geometric_error mounting_error assembly_error imperfection \
tolerance_analysis gap
material steel young elasticity e_modulus modulus
engine simulator physics_engine pybullet mujoco pinocchio bullet
crosscheck benchmark cross_validation cross_check other_simulator
compare difference diff delta comparison change versus
doctor diagnose environment health selftest self_test system_check installation info dependency
init initialize setup scaffold bootstrap quickstart create new template
hook pre_commit ci github_action gitlab workflow action pipeline continuous_integration merge_request pull_request
server language_server lsp editor ide vscode language_protocol
warmup precompile jit compile cache aot numba
schema json_schema jsonschema specification spec
body link rigid_body segment part
pair joint connection kinematic_pair hinge mate
world ground
name label id identifier
coupling gear mimic belt gear_ratio rack
rolling wheel roll tyre tire rolling_wheel
contact_bound envelope contact_force
camera viewpoint perspective
size resolution width height dimension
grid resolution spacing discretization
pose transform se3 frame isometry rigid_transform homogeneous
rotation orientation quaternion rpy attitude
edition standard version norm year
page html report html_report web_page
frame dataframe pandas df
outcome status success result reason
exit_code passed ok success returncode return_code
explain describe documentation doc help
rest standstill zero_speed stationary
share fraction factor ratio scale percentage
mask valid unique trust trustworthy reliable uniqueness
unique determinate determined
unit degree radian si
"""
#: Words without a meaning of their own in a name, and their weight is nil.
_FILLERS = frozenset(
    re.split(
        r"\s+",
        "a an the of for in on by with and or as is are be has have its this that it my use using get compute "
        "calc calculate calculation set make do mj arg param value values data all given per each any which one such "
        "not these those than also where if no list n",
    )
)
#: Words that narrow another one: alone they decide, beside another word little.
_MODIFIERS = frozenset(
    re.split(
        r"\s+",
        "initial start begin joint current desired default total model robot arm mechanism new max maximum name num "
        "number count mode info type save show output enable disable add no run reset apply create remove check test "
        "from to print report",
    )
)
#: Endings of inflected words and of derived ones, with the fewest letters before them; the first that fits is cut off.
_ENDINGS = (
    *(
        (ending, 4)
        for ending in ("izations", "ization", "isation", "ations", "ation", "ators", "ator", "ating")
    ),
    *(
        (ending, 4)
        for ending in ("izers", "izer", "isers", "iser", "izing", "ising", "ized", "ised", "ize", "ise")
    ),
    *((ending, 4) for ending in ("ates", "ated", "ate")),
    *((ending, 5) for ending in ("ities", "ity", "ancies", "ancy", "ances", "ance", "ants", "ant")),
    *(
        (ending, 5)
        for ending in ("ments", "ment", "nesses", "ness", "ically", "ical", "ics", "ic", "ally", "als")
    ),
    *((ending, 5) for ending in ("al", "ions", "ion", "ives", "ive", "ors", "or", "ers", "er", "ous", "ly")),
    *((ending, 3) for ending in ("yses", "ysis", "yzes", "yzed", "yze", "yse", "ies", "ings", "ing", "ied")),
    *((ending, 3) for ending in ("eds", "ed", "es", "e", "s", "y")),
)
#: Endings before which the last letter of a word is doubled.
_DOUBLING = ("ing", "ings", "ed", "er", "ers", "es", "s")
#: How well a word is matched by the same word, and by another one of its meaning.
_SAME, _ALIKE = 1.0, 0.85
#: How much a match counts in the name, in the first text of it and in the later ones; matches in several add up.
_IN_NAME, _IN_SUMMARY, _IN_REST = 0.8, 0.7, 0.4
#: A name is proposed from this score on, further ones if they are nearly as good, three in all.
_ENOUGH, _NEARLY, _MOST = 0.55, 0.9, 3
#: Score of a name from which it is proposed although more than so many are as good.
_SURE = 0.6
#: Longest word that is looked up, characters, and the fewest letters of a part of a compound.
_LONGEST, _PART = 60, 3


class Described(NamedTuple):
    """A known name with the texts that describe it.

    Parameters
    ----------
    name : str
        What is proposed, such as ``--duration`` or ``mass_matrix``.
    summary : str
        Its first sentence, or the whole help of an option.
    rest : str
        Further texts, such as the descriptions of its parameters.
    """

    name: str
    summary: str = ""
    rest: str = ""


def leads_to(word: str, known: Iterable[Described]) -> tuple[str, ...]:
    """Return the names that an unknown word means, the best first; none where the texts decide nothing.

    Parameters
    ----------
    word : str
        A name as somebody wrote it, in any case and with any separators.
    known : iterable of Described
        The names of the namespace in which it is unknown.

    Returns
    -------
    tuple of str
        At most three names.
    """
    indexed = [_indexed(one) for one in known]
    terms = list(_terms(word[:_LONGEST], {stem for one in indexed for stem in one.stems}))
    if not terms or not indexed:
        return ()
    matches = {term: [_match(term, one) for one in indexed] for term in terms}
    emphasis = dict.fromkeys(terms, 1.0)
    if any(matches[terms[-1]]):
        emphasis[terms[-1]] = _HEAD
    emphasis |= {term: _LITTLE for term in terms if term.form in _modifiers()}
    weights = {term: _weight(found) * emphasis[term] for term, found in matches.items()}
    total = sum(weights.values())
    # a class is written with a capital, unless its first word is a verb as in CalcMassMatrix
    of_class = len(word) > 1 and word[0].isupper() and _snake(word).partition("_")[0] not in _FILLERS
    scored = []
    for place, one in enumerate(indexed):
        score = sum(weights[term] * matches[term][place] for term in terms) / total
        alike = _TIE * _covered(one, terms) + _KIND * (one.name[:1].isupper() == of_class)
        scored.append((score + alike, score, one.name))
    scored.sort(key=lambda item: -item[0])
    best = scored[0][0]
    if scored[0][1] < _ENOUGH:
        return ()
    found = [name for ranked, score, name in scored if score >= _ENOUGH and ranked >= _NEARLY * best]
    return tuple(found[:_MOST]) if len(found) <= _MOST or scored[0][1] >= _SURE else ()


def meant(word: str, known: Sequence[Described], elsewhere: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names that are meant by an unknown one: a word of elsewhere, a misspelt name, or one by its texts.

    Parameters
    ----------
    word : str
    known : sequence of Described
        The names of the namespace in which the word is unknown.
    elsewhere : mapping of str to str
        Words of other programs whose texts lead to nothing or to another name, and what they mean.

    Returns
    -------
    tuple of str
        At most three names, the best first.
    """
    from difflib import get_close_matches

    names = {one.name: one for one in known}
    core = "_".join(part for part in _snake(word).split("_") if part not in _FILLERS)
    spellings = dict.fromkeys((word, word.lower(), _snake(word), core))
    if written := next((elsewhere[one] for one in spellings if elsewhere.get(one) in names), None):
        return (written,)
    if same := next((one for one in spellings if one in names), None):
        return (same,)
    if near := only_near(_snake(word), names):
        return (near,)
    similar = get_close_matches(_snake(word), names, n=1, cutoff=_MISSPELT) if len(word) > _PART else []
    return tuple(similar) or leads_to(word, known)


def public() -> list[Described]:
    """Return the public functions and classes of the package with their docstrings."""
    places: dict[str, str] = import_module("mbplugin.api").PUBLIC
    return [described_function(name, text) for name, text in docstrings(places).items()]


def remedy_for_key(key: str, texts: Mapping[str, str], misspelt: str) -> str:
    """Return the remedy for an unknown key of a file: the known one that is meant, else all that there are.

    Parameters
    ----------
    key : str
    texts : mapping of str to str
        The known keys, and the description of each in the schema.
    misspelt : str
        The remedy by the spelling alone, which counts if it proposes a key.
    """
    if misspelt.startswith("did you mean"):
        return misspelt
    return proposal(leads_to(key, [Described(name, text) for name, text in texts.items()])) or misspelt


def docstrings(places: Mapping[str, str]) -> dict[str, str]:
    """Read the docstrings of functions and classes from the sources of their modules, without importing them.

    Parameters
    ----------
    places : mapping of str to str
        The module of each name, such as ``{"lint": "mbplugin.linter.run"}``.

    Returns
    -------
    dict of str to str
        The docstring of each name; empty where its module has no source or the name has no docstring.
    """
    return {name: _docstring(_source(module), name) for name, module in places.items()}


def described_function(name: str, docstring: str) -> Described:
    """Return a function or class with its first sentence as the summary and the rest of its docstring."""
    summary, _, rest = docstring.partition("\n\n")
    return Described(name, summary, re.split(r"\n *Raises\n *-{3,}", rest)[0])


def described_entries(docstring: str) -> dict[str, str]:
    """Return the descriptions of the parameters or attributes in a numpydoc docstring, by name.

    Names that are documented together, such as ``q, qd : mapping``, have the same description.
    """
    entries: dict[str, str] = {}
    names: list[str] = []
    for line in docstring.split("\n"):
        head = re.fullmatch(r"(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: : .*)?", line)
        if head and not re.fullmatch(r"Parameters|Attributes|Returns|Raises|Yields|Notes|Examples", line):
            names = [name.strip(" *") for name in head[1].split(",")]
            entries.update(dict.fromkeys(names, line.partition(" : ")[2]))
        elif line.startswith("    ") and names:
            for name in names:
                entries[name] += f" {line.strip()}"
        elif line.strip():
            names = []
    return entries


def proposal(names: Sequence[str], form: Callable[[str], str] = repr) -> str:
    """Return ``did you mean 'a', 'b' or 'c'?`` for the names that a word leads to; empty without one."""
    if not names:
        return ""
    *others, last = map(form, names)
    return f"did you mean {', '.join(others)}{' or ' * bool(others)}{last}?"


# Words: what is compared.


def _snake(name: str) -> str:
    """Return ``forward_kinematics`` for ``forwardKinematics`` and ``forward-kinematics``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").lower()


class _Indexed(NamedTuple):
    """A known name and the weights of the stems and terms in its texts."""

    name: str
    own: frozenset[str]
    stems: Mapping[str, float]
    meanings: Mapping[int, float]


#: Weight of a word that narrows another one, and of one that is found nowhere.
_LITTLE, _UNKNOWN = 0.3, 0.6
#: Weight of the last word, which says what a compound is: a tool speed is a speed.
_HEAD = 1.4
#: What the share of the words of a name that are matched adds, to decide between equal scores.
_TIE = 0.2
#: What it adds that both are written as classes, or neither.
_KIND = 0.15


@cache
def _indexed(one: Described) -> _Indexed:
    stems: dict[str, float] = {}
    meanings: dict[int, float] = {}
    for text, weight in ((one.name, _IN_NAME), (one.summary, _IN_SUMMARY), (one.rest, _IN_REST)):
        # the letters of an equation have no meaning of their own
        words = [word for word in _words(text) if len(word) > 1 or weight == _IN_NAME]
        forms = {*_forms(words)}
        for stem in forms:
            stems[stem] = _both(weight, stems.get(stem, 0.0))
        for meaning in {meaning for stem in forms for meaning in _meanings().get(stem, ())}:
            meanings[meaning] = _both(weight, meanings.get(meaning, 0.0))
    return _Indexed(one.name, frozenset(_words(one.name)), stems, meanings)


def _both(first: float, second: float) -> float:
    """Return the weight of a match in two texts, which is more than that in each and less than one."""
    return 1.0 - (1.0 - first) * (1.0 - second)


class _Term(NamedTuple):
    """A word of the question, or several that are one term, with the stems that it consists of."""

    form: str
    parts: tuple[str, ...]


def _terms(text: str, known: set[str]) -> Iterator[_Term]:
    """Yield the terms of a name, the longest first; unknown words are divided, completed or corrected."""
    words = [part for word in _words(text) for part in _readable(word, known)]
    while words:
        length = next((n for n in (3, 2) if len(words) >= n and "".join(words[:n]) in _meanings()), 1)
        yield _Term("".join(words[:length]), tuple(words[:length]))
        words = words[length:]


def _readable(word: str, known: set[str]) -> tuple[str, ...]:
    """Return the stems of a word that is known, or of two known words that it joins, or of one that it is near."""
    meanings = _meanings()
    if word in known or word in meanings or len(word) < _PART + 1:
        return (word,)
    for length in range(len(word) - _PART, _PART - 1, -1):
        first, second = _stem(word[:length]), word[length:]
        if (first in known or first in meanings) and (second in known or second in meanings):
            return tuple(one for one in (first, second) if one not in _FILLERS)
    whole = [*known, *(one for one in meanings if one in _single())]
    begun = [one for one in whole if one.startswith(word)]
    if begun:
        return (min(begun, key=len),)
    from difflib import get_close_matches

    near = get_close_matches(word, whole, n=1, cutoff=_SPELT) if len(word) > _PART + 1 else ()
    return tuple(near) or (word,)


#: Similarity from which a word counts as a misspelt one, and a whole name.
_SPELT, _MISSPELT = 0.84, 0.86


def _match(term: _Term, one: _Indexed) -> float:
    """Return the degree, from 0 to 1, to which a term describes a name."""
    whole = _match_of(term.form, one)
    if len(term.parts) == 1:
        return whole
    return max(whole, sum(_match_of(part, one) for part in term.parts) / len(term.parts))


def _match_of(form: str, one: _Indexed) -> float:
    alike = max((one.meanings.get(meaning, 0.0) for meaning in _meanings().get(form, ())), default=0.0)
    return max(_SAME * one.stems.get(form, 0.0), _ALIKE * alike)


def _weight(found: Sequence[float]) -> float:
    """Return the weight of a term: a word that describes everything decides nothing, an unknown one little."""
    return log(1.0 + len(found) / sum(found)) if any(found) else _UNKNOWN * log(1.0 + len(found))


def _covered(one: _Indexed, terms: Sequence[_Term]) -> float:
    """Return the share of the words of a name that the terms contain, or mean."""
    if not one.own:
        return 0.0
    forms = {form for term in terms for form in (term.form, *term.parts)}
    meant = {meaning for form in forms for meaning in _meanings().get(form, ())}
    same = [1.0 if word in forms else 0.7 * bool(meant & {*_meanings().get(word, ())}) for word in one.own]
    return sum(same) / len(same)


def _words(text: str) -> list[str]:
    """Return the stems of the words of a text or a name, without fillers."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", text)
    apart = re.sub(r"(?<=[a-z])2(?=[a-z])", " to ", apart)
    found = re.findall(r"[^\W\d_]+\d*|\d+[^\W\d_]+", apart.lower())
    return [_stem(word) for word in found if word not in _FILLERS]


def _forms(words: Sequence[str]) -> Iterator[str]:
    """Yield the words, and the terms that two or three of them form."""
    yield from words
    for length in (2, 3):
        for place in range(len(words) - length + 1):
            joined = "".join(words[place : place + length])
            if joined in _meanings():
                yield joined


@cache
def _stem(word: str) -> str:
    """Return a word without its ending: ``stopping`` and ``stops`` are ``stop``."""
    if len(word) <= _PART or not word.isalpha():
        return word
    for ending, least in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= least:
            word = word.removesuffix(ending)
            if len(word) > _PART and word[-1] == word[-2] and ending in _DOUBLING:
                word = word[:-1]
            break
    return word


@cache
def _modifiers() -> frozenset[str]:
    return frozenset(map(_stem, _MODIFIERS))


@cache
def _single() -> frozenset[str]:
    """Return the synonyms that are one word."""
    return frozenset(_stem(term) for term in _SYNONYMS.split() if "_" not in term)


@cache
def _meanings() -> dict[str, tuple[int, ...]]:
    """Return the lines of the synonyms in which each term stands."""
    found: dict[str, tuple[int, ...]] = {}
    for number, line in enumerate(_SYNONYMS.replace("\\\n", "").strip().split("\n")):
        for term in line.split():
            words = term.split("_")
            form = "".join(_stem(word) for word in words if word not in _FILLERS or len(words) == 1)
            found[form] = (*found.get(form, ()), number)
    return found


# Sources: where the docstrings stand.


@cache
def _source(module: str) -> str:
    """Return the source of a module, without importing it; empty where it is not installed."""
    package, _, path = module.partition(".")
    folder, path = resources.files(package), path.replace(".", "/")
    for file in (folder.joinpath(f"{path}/__init__.py"), folder.joinpath(f"{path}.py")):
        if file.is_file():
            return file.read_text(encoding="utf-8")
    return ""


def _docstring(source: str, name: str) -> str:
    """Return the docstring of a function or a class at the top level of a source, without its indentation."""
    found = re.search(rf'^(?:def|class) {name}\b.*?\n    r?"""(.*?)"""', source, re.MULTILINE | re.DOTALL)
    return "" if found is None else re.sub(r"^    ", "", found[1], flags=re.MULTILINE).strip()
