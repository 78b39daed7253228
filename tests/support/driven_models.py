"""MJCF models with actuators: a chain with one of each kind, and a four-bar with all that a file may have besides."""

from __future__ import annotations

LINKS = """<mujoco model="driven"><compiler angle="degree"/><option timestep="0.001"/><worldbody>
<body name="a"><joint name="ja" axis="0 1 0" range="-30 90" limited="true" damping="0.1" armature="0.01"/>
<geom type="capsule" size="0.03" fromto="0 0 0 0.4 0 0" mass="1"/>
<body name="b" pos="0.4 0 0"><joint name="jb" axis="0 1 0" damping="0.05" ref="20"/>
<geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0" mass="0.7"/>
<body name="c" pos="0.3 0 0"><joint name="jc" type="slide" axis="1 0 0" range="-0.1 0.2" limited="true"/>
<geom type="sphere" size="0.05" mass="0.5"/>
<body name="d" pos="0.1 0 0"><joint name="jd" axis="0 0 1" damping="0.02"/>
<geom type="capsule" size="0.02" fromto="0 0 0 0.2 0 0" mass="0.2"/></body></body></body></body></worldbody>"""
ACTUATORS = """<actuator>
<motor name="geared" joint="ja" gear="12" ctrlrange="-1 1" forcerange="-20 20"/>
<position name="servo" joint="jb" kp="25" kv="1.5" ctrlrange="-1.5 1.5" forcerange="-15 15"/>
<velocity name="speed" joint="jc" kv="8" ctrlrange="-0.4 0.4"/>
<general name="lag" joint="jd" dyntype="filter" dynprm="0.05" gainprm="3" biastype="affine" biasprm="0.1 -2 -0.1"/>
<intvelocity name="way" joint="jd" kp="4" actrange="-1 1"/>
<motor joint="jb"/>
</actuator></mujoco>"""

HEAD = """<mujoco model="four_bar">
  <!-- a comment that stays: <connect name="no"/> -->
  <compiler angle="degree" {compiler}/>
  <option timestep="0.0005"><flag contact="disable"/></option>
  <default>
    <joint damping="0.1" armature="0.01" stiffness="0.2"/>
    <default class="bar"><geom type="capsule" size="0.02" rgba="1 0 0 1"/></default>
  </default>
"""
BODIES = """    <body name="crank" pos="0 0 0">
      <joint name="j1" axis="0 1 0" range="-90 90" limited='true'/>
      <geom class="bar" fromto="0 0 0 0 0 0.3"/>
      <body name="coupler" pos="0 0 0.3">
        <joint name="j2" axis="0 1 0"/>
        <geom class="bar" fromto="0 0 0 1 0 0"/> <!-- the coupler -->
      </body>
    </body>
    <body name="rocker" pos="1 0 0">
      <joint name="j3" axis="0 1 0" ref="10"/>
      <geom class="bar" fromto="0 0 0 0 0 0.3"/>
      <site name="tip" pos="0 0 0.3"/>
    </body>
"""
EQUALITY = """  <equality>
    <!-- the pin -->
    <connect name="pin" body1="coupler" body2="rocker" anchor="1 0 0" solref="0.004 1"/>
    <weld name="unused" body1="coupler" body2="rocker" active="false"/>
  </equality>
"""
TAIL = """  <actuator>
    <position name="servo" joint="j1" kp="20" ctrlrange="-90 90"/>
  </actuator>
  <sensor><framepos objtype="site" objname="tip"/></sensor>
  <keyframe>
    <key name="home" ctrl="0"/>
    <key name="leant" qpos="0.5 -0.5 0.6745" ctrl="0.3"/>
  </keyframe>
</mujoco>
"""
WORLD = f"  <worldbody>\n{BODIES}  </worldbody>\n"
MODEL = HEAD.format(compiler="") + WORLD + EQUALITY + TAIL
