"""Appearance: colours, formatting of texts and numbers, display of foreign text, pictures, links."""
