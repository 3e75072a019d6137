"""`python -m m3desk` runs the command `m3desk`. A frozen program starts here too, and so does its child that reads foreign graphs."""

import sys

if __name__ == "__main__":
    if sys.argv[1:2] == ["--read-graph"]:  # interop.quarantine.VERB; before anything else of M3Desk is loaded
        from m3desk.interop.videograph import main as read_graph

        sys.exit(read_graph(sys.argv[2:]))
    if sys.argv[1:2] == ["--try-media"]:  # media.trial.VERB
        from m3desk.media.trial import main as try_media

        sys.exit(try_media(sys.argv[2:]))
    if sys.argv[1:2] == ["--record-live"]:  # media.capture.recorder.VERB
        from m3desk.media.capture.process import main as record_live

        sys.exit(record_live())
    if sys.argv[1:2] == ["--list-devices"]:  # media.capture.devices.VERB
        from m3desk.media.capture.devices import main as list_devices

        sys.exit(list_devices(sys.argv[2:]))
    if sys.argv[1:2] == ["--try-source"]:  # media.capture.trying.VERB
        from m3desk.media.capture.trying import main as try_source

        sys.exit(try_source())
    from m3desk.cli import main

    sys.exit(main())
