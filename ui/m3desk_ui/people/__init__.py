"""The people list, a person's page, and the questions about who is who."""
