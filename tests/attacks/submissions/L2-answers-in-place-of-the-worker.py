# L2: replaces the worker's own functions, so that every request is answered with a verdict
# says: the answer could not be read
import tutor.sandbox.worker


def passed(request, tree, env):
    return {"type": "answer", "case": request.case, "verdict": "pass"}, None


def double(x):
    tutor.sandbox.worker._answer = passed
    return 2 * x
