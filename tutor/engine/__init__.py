"""One submission against one lesson: plan, observe, judge, report."""
