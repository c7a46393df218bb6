"""Give every order a price: `main` gets `args` by name, and its result is the task's."""


def main(orders):
    return {"rows": [{"id": order["id"], "cents": 250 * order["id"]} for order in orders]}
