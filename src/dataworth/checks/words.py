"""The words of every check: its name, what it means that it fires, and what to do then."""

WORDS = {
    "DW001": (
        "doubling",
        "repeating rows raises the score: the model is less sure than its data allow",
        "let a yardstick be fitted (features and prior from the test set), or widen the prior",
    ),
    "DW002": (
        "duplicates",
        "rows are repeated inside the data: the model counts them as new ones and is surer than it may be",
        "keep one of each (deduplicate, near-deduplicate), unless repeats are independent observations",
    ),
    "DW003": (
        "leaks",
        "test rows stand in the data, nearly: part of the score is what the data tell of those very rows",
        "split by source (patient, document, film) instead of by row, or remove near copies of test rows",
    ),
    "DW004": (
        "forms",
        "forms of the score differ by more than the interval allows for: posteriors are not Gaussian",
        "keep to the evidence, by --inference ep; let --slow-checks sample a few pairs; or narrow the prior",
    ),
    "DW005": (
        "inference",
        "Laplace and a better method differ by more than the interval allows for: the number is that of an "
        "approximation",
        "two classes: prefer EP (--inference ep), mostly the closer one, and --slow-checks samples a few "
        "pairs; more classes: a narrower prior, or more test rows",
    ),
    "DW006": (
        "referee",
        "sampling gives another number than the result, by more than the interval allows for",
        "use --inference ep if this is Laplace; else a narrower prior or fewer features",
    ),
    "DW007": (
        "converged",
        "a solver stopped before it converged: those numbers have errors that no interval covers",
        "use the other inference= (--inference), a narrower prior, or features without enormous values",
    ),
    "DW008": (
        "prior-edge",
        "the yardstick's search ended at the edge of what it tries: a better one lies beyond",
        "give prior_variance= (--prior-variance), or scale the features and labels",
    ),
    "DW009": (
        "prior-range",
        "another prior, which the test set allows as well, leads to another conclusion",
        "read the conclusion as undecided; more test rows would settle the prior",
    ),
    "DW010": (
        "size",
        "datasets are too small to train on, or pairs so large that they overlap: the size decides, not "
        "the data",
        "use the size that is proposed, if one is (size=, --size), or more rows",
    ),
    "DW011": (
        "classes",
        "pairs lack a class: their data cannot teach it, and the mean is over different questions",
        "give the data rows of every class, or draw larger pairs (size=, --size)",
    ),
    "DW012": (
        "chance",
        "the data predict the test labels no better than with their labels permuted: scores compare guesses",
        "give features that tell the label, more or better data, or check that labels belong to their rows",
    ),
    "DW013": (
        "attribute",
        "the attribute predicts the label beyond the features: the guarantee does not cover curation by it",
        "use features that see more, or read a rise of the score as real information about this test set",
    ),
    "DW014": (
        "shift",
        "data and test set differ in what the features leave out: the model cannot see that shift",
        "compare the two sets' columns; let a yardstick keep more of them, or take data from where the "
        "test is",
    ),
    "DW015": (
        "selection",
        "the curation made a column, or columns together, go with the label as in the test set, and test "
        "rows against that lose: a gain for this test set, but strategic, if the column should not matter",
        "only a person can know whether the column matters; if it should not, declare it (--attribute)",
    ),
}
