"""What holds for every test."""

import os

from hypothesis import HealthCheck, settings

# The same examples every time: a red build must be red for everyone. `HYPOTHESIS_PROFILE=explore` looks for new ones.
# How fast a machine makes examples is no property of the code.
settings.register_profile("fixed", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", deadline=None, max_examples=1000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))
