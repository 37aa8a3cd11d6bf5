import optax


class Adam:
    def __init__(self, rate):
        self.transform = optax.adam(rate)

    def init(self, params):
        return self.transform.init(params)

    def update(self, params, grads, state):
        change, state = self.transform.update(grads, state, params)
        return optax.apply_updates(params, change), state
