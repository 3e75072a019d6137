"""Forty replies of a model that watches, each handled as it must be: kept, sent back once with the fault named, or failed; never empty."""

from __future__ import annotations

import pytest

from m3desk.domain.memory import Draft
from m3desk.domain.tags import TAG
from m3desk.errors import Cancelled, ModelFailed
from m3desk.memorization.watched.writer import WatchedWriter
from tests.memorization.watched.made import GOOD, ScriptedWatcher, texts, two_people
from tests.memorization.watched.replies import CASES, Case


def of_model(draft: Draft):
    return [s for s in draft.sentences if s.model.startswith("watched by")]


def unquoted(sentence):
    inside = {i for a, b in sentence.quoted for i in range(a, b)}
    return "".join(c for i, c in enumerate(sentence.text) if i not in inside)


@pytest.mark.parametrize("case", CASES, ids=[c.name for c in CASES])
def test_every_reply_is_kept_sent_back_once_or_failed_and_what_was_said_is_told_anyway(case: Case):
    seen = two_people(**case.scene)
    model = ScriptedWatcher([case.reply] if case.outcome == "kept" else [case.reply, case.reply if case.outcome == "failed" else GOOD])
    if case.outcome == "failed":
        with pytest.raises(ModelFailed, match="no usable reply"):
            WatchedWriter(model, "test").write(seen)
        assert len(model.asked) == 2
        return
    draft = WatchedWriter(model, "test").write(seen)
    told = of_model(draft)
    assert len(model.asked) == (1 if case.outcome == "kept" else 2)
    assert any(s.kind == "episodic" for s in told)
    for words in case.told:
        assert any(words in s.text for s in told), (words, [s.text for s in told])
    for words in case.never:
        assert not any(words in unquoted(s) for s in told)
    assert sum(v.by.startswith("writer ") for v in draft.votes) == case.votes
    check_sound(draft, seen)
    if case.outcome == "back":
        assert "That reply can't be used" in texts(model.asked[1])
    assert {"Good morning, everybody.", " ".join(two_people(**case.scene).perceived.utterances[1].text.split())} <= {
        s.text[a:b] for s in draft.sentences if s.event == "says" for a, b in s.quoted
    }


def test_a_model_that_loads_for_long_is_waited_for_where_it_can_be_stopped():
    class Loading(ScriptedWatcher):
        def prepare(self, cancelled):
            assert cancelled()
            raise Cancelled("stopped.")

        @property
        def hears(self):
            raise AssertionError("it is loaded here, and can't be stopped")

        hears = hears.setter(lambda self, value: None)

    with pytest.raises(Cancelled):
        WatchedWriter(Loading([GOOD]), "test").write(two_people(), lambda: True)


def check_sound(draft, seen):
    """Sentences lie in the clip, are short and storable, name only what the clip has, and have a reference for each tag that was given."""
    there = {o for c in seen.clusters for o in c.observations}
    tags = {c.tag for c in seen.clusters}
    known = of_model(draft)
    assert sum(s.kind == "episodic" for s in known) <= 24 and sum(s.kind == "semantic" for s in known) <= 12
    for s in known:
        assert seen.clip.start <= s.start <= s.end <= seen.clip.end
        assert s.text.strip() and len(s.text) <= 420 and s.text.encode()
        assert {o for span in s.spans for o in span.observations} | set(s.citations) <= there
        for match in TAG.finditer(unquoted(s)):
            assert match.group(0) not in tags
    for vote in draft.votes:
        assert {vote.a, vote.b} <= there
        assert not vote.by.startswith(("m3-agent", "consolidation"))
