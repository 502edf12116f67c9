"""Constants shared by the plain and the compiled forms of Newton's method and of EP's integrals."""

import math

# Newton's method: when it stops, and how far it goes at once
TOLERANCE = 3e-7  # nats, for each of the two stopping bounds: PMI is a sum of three such fits
RELATIVE_TOLERANCE = 1e-9  # of the log-likelihood, which a large dataset's evidence is made of
MAX_ITERATIONS = 200
LONGEST_STEP = 64.0  # in Newton steps
NEAR = 0.5  # how far any row's predictor may move for a curvature to be nearly the same
REPEATS = 8  # steps with one factor, at most
LEFT = 0.3  # of the tolerance, for the last step with a new factor to find
SLOW = 0.5  # of the way is left after a step: time for a new factor

# moments of a logistic factor against a Gaussian (`tilted`)
REACH, BULK = 8.0, 2.5
"""Cavity s.d. from the mode at which the integrand, which falls at least as fast, is below 1e-14 of it, and
where its bulk ends."""
STEP, FALL = 12.0, 100.0
"""Where the logistic step ends; where nothing is left of it, if the mode is on the other side."""
ARRIVED, MODE_STEPS = 0.01, 25
"""Square of the last Newton step to a mode, in s.d. of the integrand; how many steps there are at most."""
FALLS = (0.5, 4.0, 36.0)
"""Nats below the mode at which the pieces of a general factor end."""
FALL_STEPS, FALLEN = 30, 1.1
"""Newton steps to such an end at most (each halves a way that is too long), and by how many times too much
the integrand may have fallen there: it only makes a piece a little longer than it need be."""
SQRT_2_PI = math.sqrt(2.0 * math.pi)
