"""The dialogs of live capture: devices are tested in a process of their own, forgetting asks first, rules of *watch for* are kept."""

from __future__ import annotations

import json
import sys
import threading
import time
from dataclasses import replace

import pytest
from m3desk_ui.hub.services import Services
from m3desk_ui.live import choices
from m3desk_ui.live.choices import Choices
from m3desk_ui.live.forget_dialog import ForgetDialog
from m3desk_ui.live.retention_dialog import RetentionDialog
from m3desk_ui.live.start_dialog import StartDialog
from m3desk_ui.live.trying import Trial
from m3desk_ui.live.watch_dialog import WatchDialog
from m3desk_ui.window.window_state import WindowState
from PySide6.QtWidgets import QDialogButtonBox

from m3desk import events
from m3desk.domain.clip import MICROSECOND
from m3desk.errors import M3DeskError
from tests.ui.fakes import FakePlayer
from tests.ui.live_fakes import ADDRESS, DEVICES, FORGOTTEN, SOURCE, FakePreview

WAITS = "import sys; sys.stdin.read()"


def reporting(*reports: dict[str, object], then: str = WAITS) -> list[str]:
    """Return a command that reports, and then waits."""
    lines = "".join(f"print({json.dumps(json.dumps(r))}, flush=True);" for r in reports)
    return [sys.executable, "-c", lines + then]


@pytest.fixture
def dialog(qtbot, hub, desk):
    """Make the dialog for given devices and a command of the test; return a function for it."""

    def make(devices=DEVICES, command=None, last=None, preview=None):
        def find():
            if isinstance(devices, Exception):
                raise devices
            return list(devices)

        made = StartDialog(
            hub,
            Services(
                lambda _p: desk,
                FakePlayer,
                lambda v: v,
                dict,
                devices=find,
                try_command=lambda: command or [sys.executable, "-c", WAITS],
                attach_preview=lambda _name: preview or FakePreview(),
            ),
            last or Choices(),
        )
        qtbot.addWidget(made)
        made.show()
        qtbot.waitUntil(made.refresh_.isEnabled, timeout=30_000)
        return made

    return make


def test_devices_are_listed_tested_and_started_with_what_is_kept(dialog, qtbot):
    command = reporting({"report": "started", "preview": "p", "width": 1280, "height": 720, "fps": 30}, {"report": "level", "level": -21.5})
    made, chosen = dialog(command=command), []
    made.chosen.connect(lambda c, new: chosen.append((c, new)))
    assert made.camera.currentText() == "Integrated Webcam" and made.microphone.currentText() == "Built-in <b>Audio</b>"
    qtbot.waitUntil(lambda: made.picture.image is not None and made.meter.level == -21.5, timeout=30_000)
    assert "1280×720 · 30 pictures per second" in made.heard.text() and "nothing is recorded" in made.heard.text()
    made.keep.setCurrentIndex(made.keep.findData("hours"))
    made.hours.setValue(48)
    made.budget.setValue(7)
    made.bystanders.setChecked(True)
    made.begin()
    qtbot.waitUntil(lambda: chosen != [], timeout=30_000)
    assert chosen == [(Choices("camera:0+mic:default", 48.0, True, 7_000_000_000), False)]
    assert made._trial is None and not made.isVisible()


def test_the_devices_of_the_test_are_closed_before_the_live_source_opens_them(dialog, qtbot):
    made = dialog()
    qtbot.waitUntil(lambda: made._trial is not None and made._trial._process is not None, timeout=30_000)
    process, polled = made._trial._process, []
    made.chosen.connect(lambda _c, _n: polled.append(process.poll()))
    made.begin()
    qtbot.waitUntil(lambda: polled != [], timeout=30_000)
    assert polled[0] is not None


def test_without_a_device_the_address_is_still_there(dialog, qtbot):
    made, chosen = dialog(devices=[]), []
    made.chosen.connect(lambda c, _new: chosen.append(c.address))
    assert "No camera or microphone was found" in made.found.text() and not made.camera.isEnabled()
    assert made.from_address.isChecked()
    made.address.setText("nonsense")
    made.begin()
    assert made.problem.isVisible() and "nonsense" in made.problem.text() and chosen == []
    made.address.setText("rtsp://camera.local/stream")
    made.begin()
    qtbot.waitUntil(lambda: chosen == ["rtsp://camera.local/stream"], timeout=30_000)


def test_devices_that_can_not_be_listed_are_said_and_the_address_works(dialog):
    made = dialog(devices=M3DeskError("PortAudio is missing.", "Install libportaudio2."))
    assert "PortAudio is missing. Install libportaudio2." in made.found.text() and made.address.isEnabled()


def test_a_driver_that_hangs_does_not_hold_up_the_window(dialog, qtbot):
    made = dialog(command=[sys.executable, "-c", "import time; time.sleep(60)"])
    made._patience.setInterval(150)
    made.test()
    qtbot.waitUntil(lambda: "does not answer" in made.picture.text, timeout=30_000)
    began = time.monotonic()
    made.reject()
    assert time.monotonic() - began < 30


def test_a_test_that_fails_shows_its_last_words(dialog, qtbot):
    made = dialog(command=[sys.executable, "-c", "import sys; sys.stderr.write('Camera 0 is in use.\\n'); sys.exit(3)"])
    qtbot.waitUntil(lambda: "Camera 0 is in use." in made.picture.text, timeout=30_000)
    told = reporting({"report": "problem", "message": "There is no camera 7.", "hint": "See m3desk devices."})
    made = dialog(command=told)
    qtbot.waitUntil(lambda: "There is no camera 7. See m3desk devices." in made.picture.text, timeout=30_000)


def test_a_trial_tells_only_reports_and_its_devices_are_free_when_it_is_closed(qtbot):
    told, closed = [], threading.Event()
    trial = Trial(
        lambda: [sys.executable, "-c", "print('no json'); print('[1]'); print('{\"report\": \"level\"}', flush=True);" + WAITS], ADDRESS
    )
    trial.told.connect(told.append)
    qtbot.waitUntil(lambda: told == [{"report": "level"}], timeout=30_000)
    trial.close(closed.set)
    assert closed.wait(30) and trial._process is not None and trial._process.poll() is not None


def test_the_last_choices_are_kept_without_passwords(dialog) -> None:
    state = WindowState()
    assert choices.read(state) == Choices()
    choices.write(state, Choices(ADDRESS, 12.0, True, None))
    assert choices.read(state) == Choices(ADDRESS, 12.0, True, None)
    choices.write(state, Choices("rtsp://ann:secret@camera/1", "until remembered", False, 3_000_000_000))
    assert choices.read(state) == Choices("", "until remembered", False, 3_000_000_000)
    state.save()
    made = dialog(last=Choices(ADDRESS, 12.0, True, None))
    assert made.from_address.isChecked() and made.address.text() == ADDRESS
    assert (made.hours.value(), made.bystanders.isChecked(), made.budget.text()) == (12, True, "no limit")


def test_forgetting_shows_first_what_would_go_and_cancel_is_the_default(qtbot, hub, desk):
    dialog = ForgetDialog(hub)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(dialog.go.isEnabled, timeout=30_000)
    told = dialog.effect.text()
    assert "00:00" in told and "01:35" in told and "memories: 12" in told and "faces and utterances: 41" in told and "the recording" in told
    qtbot.waitUntil(lambda: "people who appear nowhere else: Grace Hopper" in dialog.effect.text(), timeout=30_000)
    assert dialog.cancel.isDefault() and dialog.focusWidget() is dialog.cancel
    assert desk.called("forget_recent") == [((300,), {"dry_run": True})]
    dialog.minutes.setValue(15)
    assert not dialog.go.isEnabled(), "what would go is not known yet"
    qtbot.waitUntil(dialog.go.isEnabled, timeout=30_000)
    notices = []
    hub.notice.connect(lambda level, text, *_: notices.append((level, text)))
    dialog.go.click()
    assert desk.called("forget_recent")[-1] == ((900,), {"dry_run": False})
    qtbot.waitUntil(lambda: notices == [("info", "Forgotten. The search over all files found nothing of it.")], timeout=30_000)


def test_what_the_search_still_finds_after_forgetting_is_an_error(qtbot, hub, desk, monkeypatch):
    dialog = ForgetDialog(hub, span=("s1", 5 * MICROSECOND, 65 * MICROSECOND))
    qtbot.addWidget(dialog)
    assert "from 00:05 to 01:05" in dialog.question.text()
    qtbot.waitUntil(dialog.go.isEnabled, timeout=30_000)
    left = replace(FORGOTTEN, found=("recordings/s9/000001.ts",))
    monkeypatch.setattr("tests.ui.live_fakes.FORGOTTEN", left)
    notices = []
    hub.notice.connect(lambda level, text, *_: notices.append((level, text)))
    dialog.forget()
    assert desk.called("forget_span")[-1] == (("s1", 5 * MICROSECOND, 65 * MICROSECOND), {"dry_run": False})
    qtbot.waitUntil(lambda: notices == [("error", "Not everything could be deleted: recordings/s9/000001.ts")], timeout=30_000)


def test_a_preview_that_fails_leaves_forgetting_disabled(qtbot, hub, desk):
    desk.fail["forget_recent"] = M3DeskError("No live source runs.", "Start one.")
    dialog = ForgetDialog(hub)
    qtbot.addWidget(dialog)
    qtbot.waitUntil(lambda: "No live source runs. Start one." in dialog.effect.text(), timeout=30_000)
    assert not dialog.go.isEnabled()


def test_rules_are_added_by_person_word_and_object_and_removed(qtbot, hub, desk):
    dialog = WatchDialog(hub, ())
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: dialog._names != [], timeout=30_000)
    dialog._edit.setText("ann")
    dialog.add()
    dialog._edit.setText("Nobody of that name")
    dialog.add()
    assert dialog.problem.isVisible() and "Nobody in this memory is called" in dialog.problem.text()
    dialog.kind.setCurrentIndex(dialog.kind.findData("word"))
    dialog._edit.setText("budget")
    dialog.add()
    assert [args for args, _ in desk.called("add_watch")] == [("person", "person_1", "ann"), ("word", "budget", "budget")]
    qtbot.waitUntil(lambda: dialog.rules.count() == 2, timeout=30_000)
    assert dialog.rules.item(1).text() == "when somebody says “budget”"
    dialog.rules.setCurrentRow(0)
    dialog.remove_button.click()
    qtbot.waitUntil(lambda: dialog.rules.count() == 1, timeout=30_000)
    assert desk.called("remove_watch") == [((1,), {})]


def test_hits_are_listed_newest_first_and_lead_to_their_moment(qtbot, hub, desk):
    old = events.WatchHit(1, "word", SOURCE, 5 * MICROSECOND, "Bob says “budget”")
    dialog = WatchDialog(hub, (old,))
    qtbot.addWidget(dialog)
    desk.emit(events.WatchHit(2, "person", SOURCE, 61 * MICROSECOND, "Ann came in"))
    qtbot.waitUntil(lambda: dialog.hits.count() == 2, timeout=30_000)
    assert [dialog.hits.item(i).text() for i in range(2)] == ["01:01  Ann came in", "00:05  Bob says “budget”"]
    went = []
    hub.selection.seek.connect(lambda *to: went.append(to))
    dialog._go(dialog.hits.item(0))
    assert went == [(SOURCE, 61 * MICROSECOND, True)]
    assert dialog.findChild(QDialogButtonBox) is not None


def test_old_recordings_are_shown_before_they_are_deleted(qtbot, hub, desk):
    dialog = RetentionDialog(hub)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(dialog.go.isEnabled, timeout=30_000)
    assert desk.called("retention") == [((), {"hours": None, "dry_run": True})]
    assert "1.4 GB" in dialog.effect.text() and dialog.found.item(0).text().startswith("s3-door-20261120-101500 · 00:00 – 1:00:00")
    assert dialog.cancel.isDefault() and not dialog.count.isEnabled()
    dialog.kind.setCurrentIndex(2)
    assert not dialog.go.isEnabled()
    qtbot.waitUntil(lambda: "Nothing would be deleted." in dialog.effect.text(), timeout=30_000)
    assert desk.called("retention")[-1] == ((), {"hours": 720.0, "dry_run": True}) and not dialog.go.isEnabled()
    dialog.count.setValue(2)
    qtbot.waitUntil(dialog.go.isEnabled, timeout=30_000)
    notices = []
    hub.notice.connect(lambda level, text, *_: notices.append((level, text)))
    dialog.go.click()
    assert desk.called("retention")[-1] == ((), {"hours": 48.0, "dry_run": False})
    qtbot.waitUntil(lambda: notices == [("info", "Deleted old recordings: 1.4 GB.")], timeout=30_000)


def test_what_is_wrong_with_an_address_is_not_said_any_more_once_it_is_changed(dialog, qtbot):
    made = dialog(devices=())
    qtbot.keyClicks(made.address, "cam:0")
    made.begin()
    assert made.problem.isVisible() and "cam:0" in made.problem.text()
    qtbot.keyClicks(made.address, "1")
    assert made.problem.isHidden()


def test_somebody_with_a_suggested_name_is_found_without_its_question_mark(qtbot, hub, desk):
    dialog = WatchDialog(hub, ())
    qtbot.addWidget(dialog)
    qtbot.waitUntil(lambda: bool(dialog._people), timeout=30_000)
    person = desk.world.people[1]
    dialog._take_people([replace(person, name=None, name_state="suggested", shown="Jeff?")])
    assert dialog._people["jeff"] == dialog._people["jeff?"] == person.id
