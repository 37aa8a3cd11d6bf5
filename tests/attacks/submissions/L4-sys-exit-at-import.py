# L4: sys.exit(0) when imported
# says: your code ended the process
import sys

sys.exit(0)
