"""A chart of the results."""

from pathlib import Path

from benchmarks.results import Results

HOWS = (("warm", "jaxtutor, warm"), ("script", "python script"), ("pytest", "pytest"))


def draw(results: Results, file: Path) -> None:
    """Write an SVG: the time to a verdict by lesson, and the throughput of grading."""
    import matplotlib

    matplotlib.use("svg")
    # The same results must give the same file: no dates, no random ids, text as text.
    matplotlib.rcParams |= {"svg.hashsalt": "jaxtutor", "svg.fonttype": "none"}
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(
        1, 2, figsize=(11, 4), layout="constrained", width_ratios=(3, 1)
    )
    solutions = [one for one in results.judged if one.kind == "solution"]
    for number, (how, label) in enumerate(HOWS):
        known = [
            (position + 0.27 * (number - 1), summary)
            for position, one in enumerate(solutions)
            if (summary := getattr(one, how)) is not None
        ]
        if not known:
            continue
        middles = [summary.median for _, summary in known]
        spread = [
            [summary.median - summary.p5 for _, summary in known],
            [summary.p95 - summary.median for _, summary in known],
        ]
        left.bar([x for x, _ in known], middles, 0.25, yerr=spread, label=label)
    left.set_yscale("log")
    left.set_ylabel("seconds to the verdict")
    left.set_xticks(range(len(solutions)), [one.lesson for one in solutions], rotation=20)
    left.legend()
    names = [one.by.replace(", ", "\n") for one in results.graded]
    right.bar(names, [one.per_second for one in results.graded])
    right.tick_params("x", rotation=20)
    right.set_ylabel("submissions per second")
    figure.savefig(file, format="svg", metadata={"Date": None})
    pyplot.close(figure)
