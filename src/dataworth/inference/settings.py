"""When Newton's method stops, and how far it goes at once: shared by its plain and its compiled form."""

TOLERANCE = 3e-7  # nats, for each of the two stopping bounds: PMI is a sum of three such fits
RELATIVE_TOLERANCE = 1e-9  # of the log-likelihood, which a large dataset's evidence is made of
MAX_ITERATIONS = 200
LONGEST_STEP = 64.0  # in Newton steps
NEAR = 0.5  # how far any row's predictor may move for a curvature to be nearly the same
REPEATS = 8  # steps with one factor, at most
LEFT = 0.3  # of the tolerance, for the last step with a new factor to find
SLOW = 0.5  # of the way is left after a step: time for a new factor
