# L2: replaces the worker's own functions, so that every request is answered with a verdict
# says: the answer could not be read
import sys


def passed(request, tree, env):
    return {"type": "answer", "case": request.case, "verdict": "pass"}, None
    yield


def double(x):
    frame = sys._getframe()
    while "steps" not in frame.f_locals:
        frame = frame.f_back
    frame.f_locals["steps"].gi_frame.f_globals["_answer"] = passed
    return 2 * x
