"""The picture with its boxes and subtitles, the transport below it, and the transcript."""
