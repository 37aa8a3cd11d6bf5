import jax
import jax.numpy as jnp


class Adam:
    """Keeps the powers of the two factors instead of a count, and compiles nothing."""

    def __init__(self, rate, factors=(0.9, 0.999), eps=1e-8):
        self.rate, self.factors, self.eps = rate, factors, eps

    def init(self, params):
        averages = {name: {"m": 0 * p, "v": 0 * p} for name, p in params.items()}
        return {"averages": averages, "powers": jnp.ones(2)}

    def update(self, params, grads, state):
        b1, b2 = self.factors
        powers = state["powers"] * jnp.array(self.factors)
        new, averages = {}, {}
        for name, g in grads.items():
            old = state["averages"][name]
            m = old["m"] + (1 - b1) * (g - old["m"])
            v = b2 * old["v"] + (1 - b2) * g * g
            step = m / (1 - powers[0]) / (jnp.sqrt(v / (1 - powers[1])) + self.eps)
            new[name] = params[name] - self.rate * step
            averages[name] = {"m": m, "v": v}
        return new, {"averages": averages, "powers": powers}
