"""The people list, the person page, and the identity questions."""
