"""Somebody's own CSV: raw data with wrong labels, the same curated, and a test set; plain Python."""

import csv
import random

random.seed(0)


def rows(n, wrong):
    """People, of whom a proportion has a wrong label; whether it is wrong."""
    for _ in range(n):
        age, income, visits = random.gauss(40, 12), random.gauss(2500, 600), random.randint(0, 20)
        stays = (age - 40) / 12 - (income - 2500) / 600 + random.gauss(0, 0.5) > 0
        flipped = random.random() < wrong
        site = random.choice(["north", "south"])
        yield [round(age, 1), round(income), visits, site, "yes" if stays != flipped else "no"], flipped


raw = list(rows(400, 0.2))
for name, found in {
    "raw": [row for row, _ in raw],
    "curated": [row for row, flipped in raw if not flipped],
    "test": [row for row, _ in rows(300, 0)],
}.items():
    with open(f"{name}.csv", "w", newline="") as file:
        csv.writer(file).writerows([["age", "income", "visits", "site", "label"], *found])
