"""Addresses of live sources are understood, wrong ones are refused with what to write, and credentials are never shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from m3desk.errors import UsageError
from m3desk.media.capture.address import LiveAddress, is_live, shown


@pytest.mark.parametrize(
    ("text", "camera", "microphone"),
    [
        ("camera:0", "0", None),
        ("camera:/dev/video2", "/dev/video2", None),
        ("mic:default", None, "default"),
        ("camera:0+mic:default", "0", "default"),
        ("mic:USB Audio: Front+camera:Logitech C920+ Pro", "Logitech C920+ Pro", "USB Audio: Front"),
    ],
)
def test_devices(text: str, camera: str | None, microphone: str | None) -> None:
    address = LiveAddress.parse(text)
    assert (address.kind, address.camera, address.microphone) == ("devices", camera, microphone)
    assert LiveAddress.parse(str(address)) == address
    assert is_live(text)


def test_streams_and_files() -> None:
    assert LiveAddress.parse("rtsp://10.0.0.2:8554/cam").url == "rtsp://10.0.0.2:8554/cam"
    assert LiveAddress.parse("HTTPS://host/a?x=1").kind == "stream"
    looped = LiveAddress.parse("file:/tmp/a b?.mp4?live&loop")
    assert (looped.path, looped.loop) == (Path("/tmp/a b?.mp4"), True)
    assert LiveAddress.parse(str(looped)) == looped
    assert is_live("file:x.mp4?live")
    assert not LiveAddress.parse("file:x.mp4?live").loop


@pytest.mark.parametrize("text", ["film.mp4", "/a/b.mp4", "C:\\film.mp4", "file:film.mp4", "a:b.mp4", "", "http:film.mp4"])
def test_files_are_not_live(text: str) -> None:
    assert not is_live(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "film.mp4",
        "camera:",
        "mic: ",
        "camera:0+camera:1",
        "file:a.mp4",
        "file:a.mp4?live&fast",
        "rtsp:///x",
        "rtsp://h:x/",
        "udp://h:1",
        "http://h/a b",
    ],
)
def test_a_wrong_address_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        LiveAddress.parse(text)
    assert refused.value.hint


def test_credentials_are_never_shown() -> None:
    address = LiveAddress.parse("rtsp://ann:s3cret@10.0.0.2:554/cam?token=abc&channel=1")
    assert address.shown() == "rtsp://***@10.0.0.2:554/cam?token=***&channel=1"
    assert "s3cret" not in repr(address)
    assert "s3cret" in str(address)
    assert shown("udp://ann:s3cret@h:1") == "udp://***@h:1"
    assert shown("a sentence") == "a sentence"
    with pytest.raises(UsageError) as refused:
        LiveAddress.parse("rtsp://ann:s3cret@10.0.0.2:port/")
    assert "s3cret" not in refused.value.line()
    with pytest.raises(UsageError) as refused:
        LiveAddress.parse("rtsp://ann:s3 cret@h/")
    assert "s3" not in refused.value.line()


@pytest.mark.parametrize(
    "text",
    [
        "rtsp://ann:s3c/ret@10.0.0.2/cam",
        "rtsp://ann:12/s3cret@10.0.0.2/cam",
        "rtsp://ann:s3c#ret@10.0.0.2:554/cam",
        "rtsp://ann:s3c?ret@10.0.0.2/cam",
        "rtsp:ann:s3cret@10.0.0.2/cam",
    ],
)
def test_a_password_with_letters_that_end_a_host_is_refused_and_not_shown(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        LiveAddress.parse(text)
    assert not any(part in refused.value.line() for part in ("s3c", "ret", "ann"))
    assert "s3c" not in shown(text)


def test_credentials_in_a_path_are_never_shown() -> None:
    """Some cameras take them there."""
    assert shown("rtsp://h:554/user=ann&password=s3cret&channel=1.sdp") == "rtsp://h:554/user=***&password=***&channel=1.sdp"
    assert "s3cret" not in shown("rtsp://h/user=ann_password=s3cret_channel=1_stream=0.sdp?real_stream")
    assert shown("rtsp://h/live/keyboard/1?x=1") == "rtsp://h/live/keyboard/1?x=1"
    assert shown("http://h/cgi?usr=ann&psw=s3cret") == "http://h/cgi?usr=***&psw=***"
