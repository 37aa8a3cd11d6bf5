# O1: reads the lesson with its hidden checks
# says: PermissionError
def double(x):
    with open("@REPO@/tests/packs/mini/lessons/basics/double.yaml", "rb") as file:
        assert file.read(1)
    return 2 * x
