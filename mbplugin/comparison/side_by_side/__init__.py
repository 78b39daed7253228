"""Joint wrenches of several engines at one instant, beside what a rigid model determines."""
