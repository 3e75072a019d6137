"""`python -m m3desk`: the same as the command `m3desk`; a frozen program is started so too, also as the child that reads foreign graphs."""

import sys

if __name__ == "__main__":
    if sys.argv[1:2] == ["--read-graph"]:  # interop.quarantine.VERB; before anything else of M3Desk is loaded
        from m3desk.interop.videograph import main as read_graph

        sys.exit(read_graph(sys.argv[2:]))
    if sys.argv[1:2] == ["--try-media"]:  # media.trial.VERB
        from m3desk.media.trial import main as try_media

        sys.exit(try_media(sys.argv[2:]))
    from m3desk.cli import main

    sys.exit(main())
