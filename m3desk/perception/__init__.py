"""What is seen and heard in one clip: evidence, before anybody is recognised."""
