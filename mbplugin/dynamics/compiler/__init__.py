"""The compiler of the kernels, and the machine code that is kept."""
