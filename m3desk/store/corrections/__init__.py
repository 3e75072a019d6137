"""Corrections: the steps of the journal, what each kind writes, and how a step is resolved again after a source is memorized again."""
