"""Single faces and voices, not of a clip: for enrolment, search by picture or sound, re-embedding, and the proof of forgetting."""
