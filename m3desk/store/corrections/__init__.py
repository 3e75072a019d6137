"""Corrections: the steps of the journal, what each verb writes, and how a step is found again after a re-run."""
