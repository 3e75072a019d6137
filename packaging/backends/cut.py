"""Cuts the first seconds of a film without decoding it: cut.py FILM CLIP SECONDS."""

import sys

import av

film, clip, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
with av.open(film) as source, av.open(clip, "w") as target:
    streams = {s.index: target.add_stream_from_template(s) for s in source.streams if s.type in ("video", "audio")}
    for packet in source.demux([source.streams[i] for i in streams]):
        if packet.dts is None or packet.pts is None or packet.pts * packet.time_base >= seconds:
            continue
        packet.stream = streams[packet.stream.index]
        target.mux(packet)
