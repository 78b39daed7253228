"""What two models, several engines and earlier reports say beside this one."""
