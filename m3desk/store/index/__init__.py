"""What search reads from a memory: words, embeddings and outlines of its sentences, and which rows a commit changed."""
