# L4: os._exit(0) when imported
# says: your code ended the process while running the import of your code (exit code 0)
import os

os._exit(0)
