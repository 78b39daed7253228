"""The words of the field: synonyms, fillers and endings, and the subjects that are absent here."""

from __future__ import annotations

import re

#: Words that mean the same in this field, a line each. Several words joined by ``_`` are one term. A word may stand in
#: several lines; the symbols are those of equations and of other libraries.
SYNONYMS = """
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
stopping_distance braking_distance braking_path overrun overtravel stop_distance stopping_path stop estop
stopping_time stop_time braking_time stop estop
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
view show draw render display visualize visualise viewer picture gui window scene_view look screenshot image photo \
figure snapshot rviz meshcat viz graphic 3d plot
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
fix repair correct mend autofix heal patch
remedy cure suggestion advice recommendation
select only enable include choose filter
ignore skip disable suppress exclude omit mute without waive allow except whitelist
rule code lint_rule diagnostic_code
severity level fail threshold strict strictness
note info hint information convention
xlsx excel spreadsheet workbook
diff patch suggest preview
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
constraint closure equality kinematic_constraint
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
contact touch stance foot feet support contact_point
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
#: What robotics programs do and this one does not: names of it, further words, and what to do instead. These subjects
#: compete with the names that exist for the meaning of a word, so that a word of a subject that is absent is not
#: mistaken for the nearest one that is present. Words of many subjects, such as ``joint``, stand in none of them.
ABSENT = (
    (
        "inverse_kinematics ik",
        "ik solver, reach a goal pose, lma, trac_ik, kdl",
        "inverse kinematics is not computed here: state a pose as --q JOINT=VALUE, in Python q={'JOINT': VALUE}",
    ),
    (
        "motion_planning planner path_planning plan",
        "planning, rrt, prm, ompl, moveit, collision free path, waypoints, roadmap",
        "paths are not planned here: give the finished motion as a profile of simulate, or start and end of a stop",
    ),
    (
        "connect disconnect connection client physics_client is_connected",
        "port, tcp, udp, shared memory, socket, session, login, address, host, ip, online",
        "there is nothing to connect to: every function takes a file, a model or your own PyBullet client",
    ),
    (
        "sensor camera_image lidar imu force_torque_sensor touch_sensor",
        "sensors, depth, segmentation, ray test, laser, gps, encoder, gyro, accelerometer, odometry, noise",
        "sensors are not simulated here: results hold the exact motion and the joint forces",
    ),
    (
        "gym env reward reinforcement_learning action_space observation_space",
        "gymnasium, agent, episode, vectorized env, policy training, imitation, dataset",
        "there is no environment to step: mb.simulate(model, duration, controller=…) computes a whole motion",
    ),
    (
        "reset_state reset_simulation set_joint_state reset_joint_state save_state restore_state load_state "
        "reset_data step_once reset_base",
        "restore, tick, advance, reset",
        "no state is kept between calls: give q and qd to the call, as in mb.simulate(model, 1.0, q={'JOINT': VALUE})",
    ),
    (
        "topic node publisher subscriber service ros_node action_server tf_broadcaster",
        "ros, publish and subscribe topics, spin, launch, bag, rosbag, controller manager, hardware interface",
        "nodes and topics are not served here: see docs/ros2.md for models, launch files and colcon test",
    ),
    (
        "add_body create_collision_shape create_visual_shape add_joint add_frame add_link "
        "remove_body append_model add_model_instance scene_graph diagram_builder finalize weld_frames",
        "create multibody, register, finalize, diagram, builder, spawn, instantiate",
        "models are not built step by step: state bodies, pairs and closures in a scene file, or in mb.Mechanism(…)",
    ),
    (
        "derivatives gradient hessian autodiff",
        "partial derivatives, automatic differentiation, casadi, jax, symbolic, sensitivity, finite differences",
        "derivatives are not computed here, but mb.linearize gives those of the motion about a state of rest",
    ),
    (
        "center_of_mass centre_of_mass com centroidal_momentum center_of_gravity momentum",
        "cog, com jacobian, ccrba, zmp, zero moment point, capture point, dcm, lipm, stability polygon, centroidal",
        "there is no function of the centre of mass: weight body.p_LC by body.mass at the poses of "
        "mb.forward_kinematics",
    ),
    (
        "closest_points collision_pairs compute_collisions distance_query collision_detection "
        "overlapping_objects ray_cast bounding_box",
        "contact list, penetration, broadphase, fcl, signed distance, raycast, geometry pairs, aabb",
        "contacts of shapes are not searched for: mbplugin lint FILE --collisions reports links that overlap",
    ),
    (
        "optimal_control mpc trajectory_optimization lqr whole_body_control",
        "model predictive control, ilqr, ddp, crocoddyl, ocp, qp, direct collocation, mathematical program, cost",
        "controls are not optimized here: mb.linearize gives the matrices of a linear controller",
    ),
    (
        "user_debug_line debug_text debug_parameter slider keyboard mouse_events keyboard_events visualizer_marker "
        "change_visual_shape load_texture",
        "debug drawing, button, keys, light, shadow, texture, rgba",
        "nothing is drawn by calls: mb.view(model) draws a result, in a window or a file",
    ),
    (
        "soft_body cloth deformable fluid flexible_body finite_element",
        "finite elements, fem, rope, cable, tendon, muscle, skin, particles, liquid",
        "bodies are rigid here: state stiffness of joints and links in a scene file",
    ),
    (
        "install uninstall update upgrade license activate login",
        "package manager, license key, download",
        "the program is installed, updated and removed with pip: see docs/install.md",
    ),
    (
        "grasp pick_place teleop teach hand_eye_calibration grasp_planning",
        "teleoperation, teach pendant, hand eye, perception, vision, localization, slam, navigation, map",
        "tasks of a robot are not planned or executed here: models are checked and their motions and stops computed",
    ),
)
#: First words of names that change something, in programs whose models have a state.
SETTERS = ("set", "reset", "change", "enable", "disable", "add", "apply")
#: First words of names that make a part of a model.
MAKERS = ("create", "make", "new", "build", "spawn", "insert")
#: Words without a meaning of their own in a name, and their weight is nil.
FILLERS = frozenset(
    re.split(
        r"\s+",
        "a an the of for in on by with and or as is are be has have its this that it my use using get compute "
        "calc calculate calculation set make do mj arg param value values data all given per each any which one such "
        "not these those than also where if no list n",
    )
)
#: Words that narrow another one: alone they decide, beside another word little.
MODIFIERS = frozenset(
    re.split(
        r"\s+",
        "initial start begin joint current desired default total model robot arm mechanism new max maximum name num "
        "number count mode info type save show output enable disable add no run reset apply create remove check test "
        "from to at print report",
    )
)
#: Endings of inflected words and of derived ones, with the fewest letters before them; the first that fits is cut off.
ENDINGS = (
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
DOUBLING = ("ing", "ings", "ed", "er", "ers", "es", "s")
