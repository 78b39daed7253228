"""What differs between a report and an earlier one."""
