"""How things look and read: colours, words and numbers, foreign text, pictures, links."""
