# JAX has 32 bits, and only Python numbers take the dtype of the array next to them.
# NumPy numbers and arrays without axes count like any other array.
loaded = "int32"
halved = "bfloat16"
scaled = "float32"
masked = "float32"

# Integers wrap. Only a Python integer is looked at before it becomes an array.
change = "c"
pairs = "b"
too_large = "OverflowError"
by_zero = None

doubled = "float64"
