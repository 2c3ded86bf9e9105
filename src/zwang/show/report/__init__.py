"""The report: a model and its motion as one page of HTML."""
