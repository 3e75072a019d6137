"""The video picture with boxes and subtitles, the transport controls, and the transcript."""
