"""Single faces and stretches of speech outside of a clip: taught, searched by, embedded again, and proven forgotten."""
