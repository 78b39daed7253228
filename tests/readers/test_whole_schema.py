"""Change any word of a format: the scene or a finding changes, or a table says why it has no effect."""

from __future__ import annotations

import re

import pytest

from mbplugin.model.scene import Request, Scene
from mbplugin.readers.mjcf.compile import MJCF
from mbplugin.readers.sdf import SDF
from mbplugin.readers.sdf.reader import read_sdf
from mbplugin.readers.unread import Idle, Vocabulary
from mbplugin.readers.urdf import read_urdf
from mbplugin.readers.urdf.joints import URDF
from whole_schema import changed, mechanics, other, outcome, use_of, words

#: A robot that says every word of URDF 1.2, and those that PyBullet, Drake and Gazebo add.
URDF_DOCUMENT = """<robot name="robot" version="1.2" xmlns:drake="http://drake.mit.edu">
 <material name="grey"><color rgba="0.5 0.5 0.5 1"/><texture filename="a.png"/></material>
 <link name="a" type="thing">
  <inertial><origin xyz="0.1 0.2 0.3" rpy="0.1 0.2 0.3"/><mass value="2"/>
   <inertia ixx="0.1" ixy="0.01" ixz="0.02" iyy="0.12" iyz="0.03" izz="0.13"/></inertial>
  <visual name="v" group="g"><origin xyz="0.1 0.2 0.3" quat_xyzw="0.5 0.5 0.5 0.6"/>
   <geometry><box size="0.1 0.2 0.3"/></geometry>
   <material name="red"><color rgba="1 0 0 1"/><texture filename="b.png"/></material></visual>
  <visual><geometry><sphere radius="0.2"/></geometry></visual>
  <visual><geometry><mesh filename="m.stl" scale="1 1 1"/></geometry></visual>
  <visual><geometry><plane normal="0 0.1 1"/></geometry></visual>
  <collision name="c" group="h" concave="yes"><origin xyz="0.1 0.2 0.3" rpy="0.1 0.2 0.3"/>
   <geometry><cylinder radius="0.1" length="0.3"/></geometry><verbose value="V"/>
   <drake:proximity_properties><drake:mu_static value="0.5"/></drake:proximity_properties></collision>
  <collision><geometry><capsule radius="0.1" length="0.3"/></geometry></collision>
  <contact><lateral_friction value="0.9"/><rolling_friction value="0.1"/><stiffness value="3e4"/>
   <damping value="1e3"/></contact>
  <sensor name="s"><camera/></sensor>
 </link>
 <link name="b"/> <link name="c"/> <link name="d"/> <link name="e"/>
 <joint name="ab" type="revolute">
  <origin xyz="0.1 0.2 0.3" quat_xyzw="0.5 0.5 0.5 0.6"/><parent link="a"/><child link="b"/>
  <axis xyz="0.1 0.2 1"/><calibration rising="0.1" falling="0.2" reference_position="0.3"/>
  <dynamics damping="0.4" friction="0.3"/>
  <limit lower="-1" upper="2" effort="30" velocity="3" acceleration="4" deceleration="5" jerk="6"/>
  <safety_controller soft_lower_limit="-0.9" soft_upper_limit="1.9" k_position="10" k_velocity="20"/>
 </joint>
 <joint name="bc" type="prismatic">
  <origin xyz="0.1 0.2 0.3" rpy="0.1 0.2 0.3"/><parent link="b"/><child link="c"/><axis xyz="0.1 0.2 1"/>
  <limit lower="-1" upper="2" effort="30" velocity="3"/><mimic joint="ab" multiplier="2" offset="0.1"/>
 </joint>
 <drake:joint name="cd" type="screw"><parent link="c"/><child link="d"/><axis xyz="1 0.2 0"/>
  <drake:screw_thread_pitch value="0.02"/><drake:controller_gains p="1" d="2"/></drake:joint>
 <joint name="ae" type="revolute"><parent link="a"/><child link="e"/>
  <limit lower="-1" upper="2" effort="30" velocity="3"/></joint>
 <loop_joint name="loop" type="revolute"><link1 link="d" xyz="0.1 0 0" rpy="0.1 0.2 0.3"/>
  <link2 link="e" xyz="0.1 0.2 0" quat_xyzw="0.5 0.5 0.5 0.6"/><axis xyz="0 0.1 1"/></loop_joint>
 <drake:ball_constraint name="ball"><drake:ball_constraint_body_A name="c"/>
  <drake:ball_constraint_p_AP value="0.1 0 0"/><drake:ball_constraint_body_B name="e"/>
  <drake:ball_constraint_p_BQ value="0.1 0.2 0"/></drake:ball_constraint>
 <drake:linear_bushing_rpy name="rubber"><drake:bushing_torque_stiffness value="1 2 3"/>
 </drake:linear_bushing_rpy>
 <transmission name="t" type="simple"><type>transmission_interface/SimpleTransmission</type>
  <joint name="ab"><hardwareInterface>EffortJointInterface</hardwareInterface></joint>
  <actuator name="m"><mechanicalReduction>50</mechanicalReduction>
   <drake:rotor_inertia value="1e-4"/><drake:gear_ratio value="50"/></actuator></transmission>
 <gazebo reference="ab"><springStiffness>7</springStiffness><springReference>0.2</springReference>
  <stopCfm>0.1</stopCfm><provideFeedback>true</provideFeedback></gazebo>
 <gazebo reference="a"><turnGravityOff>true</turnGravityOff><dampingFactor>0.1</dampingFactor><mu1>0.9</mu1>
  <material>Gazebo/Grey</material></gazebo>
 <gazebo><plugin name="p" filename="mimic.so"><joint>ab</joint></plugin>
  <joint name="g" type="revolute"><pose>0 0.1 0.2 0.1 0.2 0.3</pose><parent>c</parent><child>d</child>
   <axis><xyz>0 0.1 1</xyz><limit><lower>-1</lower><upper>2</upper><effort>3</effort>
     <velocity>4</velocity></limit><dynamics><damping>0.1</damping><friction>0.2</friction><spring_stiffness>5</spring_stiffness>
     <spring_reference>0.2</spring_reference></dynamics></axis></joint></gazebo>
</robot>"""

SDF_DOCUMENT = """<sdf version="1.11" xmlns:drake="drake.mit.edu"><world name="w">
 <gravity>0.1 0.2 -9.7</gravity>
 <physics name="fast" type="ode"><max_step_size>0.001</max_step_size><gravity>0 0 -3</gravity></physics>
 <magnetic_field>1 2 3</magnetic_field><wind><linear_velocity>1 2 3</linear_velocity></wind>
 <frame name="place"><pose>1 2 3 0.1 0.2 0.3</pose></frame>
 <model name="m" canonical_link="a">
  <pose relative_to="place">0.1 0.2 0.3 0.1 0.2 0.3</pose><static>false</static>
  <self_collide>true</self_collide>
  <allow_auto_disable>true</allow_auto_disable><enable_wind>true</enable_wind>
  <plugin name="p" filename="p.so"><x>1</x></plugin>
  <frame name="f" attached_to="b"><pose relative_to="a">0.1 0 0 0 0 0.1</pose></frame>
  <link name="a">
   <pose>0.1 0.2 0.3 0.1 0.2 0.3</pose><gravity>false</gravity><enable_wind>true</enable_wind>
   <self_collide>true</self_collide><kinematic>true</kinematic>
   <velocity_decay><linear>0.1</linear><angular>0.2</angular></velocity_decay>
   <inertial auto="false"><pose>0.1 0.2 0.3 0.1 0.2 0.3</pose><mass>2</mass><density>900</density>
    <inertia><ixx>0.1</ixx><ixy>0.01</ixy><ixz>0.02</ixz><iyy>0.12</iyy><iyz>0.03</iyz><izz>0.13</izz></inertia>
    <fluid_added_mass><xx>1</xx></fluid_added_mass></inertial>
   <collision name="c"><pose>0.1 0 0 0.1 0.2 0.3</pose><geometry><box><size>1 2 3</size></box></geometry>
    <surface><friction><ode><mu>0.5</mu></ode></friction></surface><max_contacts>4</max_contacts>
    <laser_retro>1</laser_retro></collision>
   <visual name="v"><pose>0.1 0 0 0 0 0</pose><geometry><sphere><radius>0.1</radius></sphere></geometry>
    <material><ambient>1 0 0 1</ambient></material><cast_shadows>true</cast_shadows></visual>
   <visual name="v2">
    <geometry><cylinder><radius>0.1</radius><length>0.2</length></cylinder></geometry></visual>
   <visual name="v3"><geometry><capsule><radius>0.1</radius><length>0.2</length></capsule></geometry></visual>
   <visual name="v4"><geometry><mesh><uri>m.stl</uri><scale>1 2 3</scale>
    <submesh><name>part</name></submesh></mesh></geometry></visual>
   <visual name="v5"><geometry><plane><normal>0 0.1 1</normal><size>1 2</size></plane></geometry></visual>
   <visual name="v6"><geometry><ellipsoid><radii>1 2 3</radii></ellipsoid></geometry></visual>
   <sensor name="s" type="imu"><update_rate>5</update_rate></sensor>
  </link>
  <link name="b"><pose rotation_format="quat_xyzw" relative_to="a">1 0 0 0.1 0.2 0.3 0.9</pose></link>
  <link name="c"><pose degrees="true">0.5 0 0 10 20 30</pose></link>
  <link name="d"/> <link name="e"/> <link name="h"><pose>0 1 0 0.4 0 0</pose></link>
  <joint name="ab" type="revolute"><pose>0.1 0 0 0.1 0.2 0.3</pose><parent>a</parent><child>b</child>
   <axis><xyz expressed_in="c">0.1 0.2 1</xyz><initial_position>0.2</initial_position>
    <dynamics><damping>0.1</damping><friction>0.2</friction><spring_reference>0.3</spring_reference>
     <spring_stiffness>4</spring_stiffness></dynamics>
    <limit><lower>-1</lower><upper>2</upper><effort>3</effort><velocity>4</velocity><stiffness>5</stiffness>
     <dissipation>6</dissipation></limit></axis>
   <physics><ode><cfm_damping>1</cfm_damping></ode></physics>
   <sensor name="ft" type="force_torque"><update_rate>5</update_rate></sensor>
   <drake:rotor_inertia>1e-3</drake:rotor_inertia><drake:gear_ratio>50</drake:gear_ratio></joint>
  <joint name="bc" type="universal"><parent>b</parent><child>c</child><axis><xyz>1 0 0</xyz></axis>
   <axis2><xyz>0 1 0</xyz><dynamics><damping>0.1</damping></dynamics>
    <mimic joint="ab" axis="axis"><multiplier>2</multiplier><offset>0.1</offset><reference>0.2</reference>
    </mimic></axis2></joint>
  <joint name="cd" type="screw"><parent>f</parent><child>d</child><axis><xyz>0 0 1</xyz></axis>
   <screw_thread_pitch>0.02</screw_thread_pitch></joint>
  <joint name="be" type="revolute"><parent>a</parent><child>e</child>
   <axis><xyz expressed_in="a">0.1 0.2 1</xyz></axis><pose relative_to="f">0.1 0 0 0 0 0</pose></joint>
  <joint name="gear" type="gearbox"><parent>e</parent><child>b</child><axis>
   <xyz expressed_in="a">0.1 0.2 1</xyz></axis><axis2><xyz expressed_in="c">0.1 0.2 1</xyz></axis2>
   <gearbox_ratio>3</gearbox_ratio><gearbox_reference_body>a</gearbox_reference_body></joint>
  <joint name="eh" type="revolute"><parent>__model__</parent><child>h</child><axis><xyz>0.1 0.2 1</xyz>
   <use_parent_model_frame>true</use_parent_model_frame></axis></joint>
  <drake:ball_constraint name="ball"><drake:ball_constraint_body_A>h</drake:ball_constraint_body_A>
   <drake:ball_constraint_p_AP>0.1 0 0</drake:ball_constraint_p_AP>
   <drake:ball_constraint_body_B>d</drake:ball_constraint_body_B>
   <drake:ball_constraint_p_BQ>0.1 0 0</drake:ball_constraint_p_BQ></drake:ball_constraint>
 </model>
</world></sdf>"""


def urdf(text: str) -> Scene:
    return read_urdf(text, Request("<stdin>", text))


def sdf(text: str) -> Scene:
    return read_sdf(text, Request("<stdin>", text))


#: By format: the document, its reader, and the table of its words.
FORMATS = {
    "urdf": (URDF_DOCUMENT, urdf, URDF),
    "sdf": (SDF_DOCUMENT, sdf, SDF),
}
#: Values whose neighbour means the same: another is taken.
OTHERS = {
    "robot/joint@type": "continuous",
    "robot/drake:joint@type": "revolute",
    "robot/loop_joint@type": "spherical",
    "robot/gazebo/joint@type": "spherical",
    "sdf@version": "1.4",
    "sdf/world/model/joint@type": "fixed",
    "sdf/world/model@canonical_link": "b",
    "sdf/world/model/joint/axis2/mimic@axis": "axis2",
}
CASES = [(kind, i, path, said) for kind in FORMATS for i, (path, said) in enumerate(words(FORMATS[kind][0]))]


@pytest.mark.parametrize("kind", FORMATS)
def test_the_documents_are_read(kind: str) -> None:
    document, read, _ = FORMATS[kind]
    assert not [d for d in read(document).defects if "not part of the format" in d.message]


@pytest.mark.parametrize(("kind", "number", "path", "said"), CASES, ids=lambda x: str(x)[:60])
def test_a_changed_word_changes_the_scene_or_a_finding(kind: str, number: int, path: str, said: str) -> None:
    document, read, vocabulary = FORMATS[kind]
    new = OTHERS.get(path, other(said))
    before, after = outcome(document, read), outcome(changed(document, number, new), read)
    if isinstance(use_of(vocabulary, path), Idle):
        # a name without effect may still be the name of something that is not read
        same = mechanics(read(changed(document, number, new))) == mechanics(read(document))
        assert same, f"{path} is in the table of words without effect and has one"
    else:
        assert before != after, f"{path}: {said!r} became {new!r}, and nothing changes"


def counts(kind: str, path: str) -> bool:
    """Whether the element of an attribute lies in none of which nothing is read."""
    tags = path.partition("@")[0].split("/")
    uses = (use_of(FORMATS[kind][2], "/".join(tags[: n + 1])) for n in range(1, len(tags)))
    return not any(isinstance(use, Idle) for use in uses)


ATTRIBUTES = [case for case in CASES if not case[2].endswith("@") and counts(case[0], case[2])]


@pytest.mark.parametrize(("kind", "number", "path", "said"), ATTRIBUTES, ids=lambda x: str(x)[:60])
def test_a_misspelt_attribute_is_a_finding(kind: str, number: int, path: str, said: str) -> None:
    document, read, _ = FORMATS[kind]
    name = path.partition("@")[2]
    before, after = outcome(document, read), outcome(changed(document, number, None, rename=True), read)
    assert before != after
    if after[0] == "refused":
        return
    defects = read(changed(document, number, None, rename=True)).defects
    hints = [d for d in defects if re.search(rf"^{name}x of .* did you mean '{name}'", d.message)]
    # elements that are not read as a whole are quoted as a whole
    assert hints or any(f"{name}x=" in str(d.evidence) for d in defects)


def reasons(vocabulary: Vocabulary) -> list[str]:
    uses = [u for e in vocabulary.values() for u in (*e.attributes.values(), *e.children.values(), e.foreign)]
    return [use.reason for use in uses if isinstance(use, Idle)]


@pytest.mark.parametrize("vocabulary", [URDF, SDF, MJCF], ids=["urdf", "sdf", "mjcf"])
def test_every_word_without_effect_has_a_reason(vocabulary: Vocabulary) -> None:
    assert reasons(vocabulary) and all(len(reason) > 5 for reason in reasons(vocabulary))


def test_a_second_element_that_is_not_read_is_a_finding() -> None:
    text = URDF_DOCUMENT.replace('<dynamics damping="0.4"', '<dynamics damping="9"/><dynamics damping="0.4"')
    assert any("a second <dynamics> in <joint>" in d.message for d in urdf(text).defects)


def test_misspelt_elements_are_told_with_what_may_be_meant() -> None:
    text = URDF_DOCUMENT.replace('<dynamics damping="0.4" friction="0.3"/>', '<dynamic damping="0.4"/>')
    (found,) = [d for d in urdf(text).defects if "<dynamic>" in d.message]
    assert "did you mean 'dynamics'?" in found.message
