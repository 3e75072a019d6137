"""The data types of a memory and the rules between them: pure values and functions; no files, threads or models."""
