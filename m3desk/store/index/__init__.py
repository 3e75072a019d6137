"""What search keeps of a memory: words, vectors and outlines of its sentences, and which rows a commit changed."""
