from hypothesis import settings

# Random cases are the same in every run, on every machine: a failure can always be repeated.
settings.register_profile("ci", derandomize=True, deadline=None, max_examples=60, database=None)
settings.load_profile("ci")
