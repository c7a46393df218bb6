def main(orders):
    return {
        "names": [order["name"] for order in orders],
        "total": sum(order["price"] for order in orders),
    }
