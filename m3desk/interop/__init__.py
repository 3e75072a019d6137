"""Reading and writing the files of others: exports, imports, checks."""
