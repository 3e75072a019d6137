"""Episodic sentences state the evidence, are readable, and cite it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from m3desk.domain.appearance import RAISED_HAND, beside_head, chest_below
from m3desk.domain.evidence import ObjectSeen
from m3desk.memorization.compose import MOST, ComposedWriter
from tests.memorization.evidence import face, seen_before, speech, thing, us, view, writing

NO_SOUND = ("The film has no sound.", "影片没有声音。")


def told(v):
    return [s.text for s in ComposedWriter().write(v).sentences if s.text not in NO_SOUND]


def check(draft, v):
    known = {o.id for o in (*v.perceived.faces, *v.perceived.utterances)}
    for s in draft.sentences:
        word = "某人" if s.language == "zh" else "someone"
        for span in s.spans:
            assert s.text[span.start : span.end].lower() == word
            assert set(span.observations) <= known and span.observations
            assert set(span.observations) <= set(s.citations)
        assert s.text.lower().count(word) >= len(s.spans)
        assert s.start <= s.end
    assert list(draft.sentences) == sorted(draft.sentences, key=lambda s: s.start)


def test_two_people_in_view_are_told_with_their_places():
    v = view(faces=[face(0, 0, 30, x=60), face(1, 0, 30, x=480)], sound=False)
    assert told(v) == ["Someone on the left and someone on the right are in view together the whole time."]
    check(ComposedWriter().write(v), v)


def test_a_group_is_counted():
    v = view(faces=[face(i, 0, 20, x=100 * i) for i in range(5)], sound=False)
    assert told(v)[0] == "Five people are in view: someone, someone, someone, someone and someone."
    many = view(faces=[face(i, 0, 20, x=60 * i) for i in range(9)], sound=False, language="zh")
    assert told(many)[0] == "画面中有九个人，其中有某人、某人、某人、某人、某人和某人。"


def test_speech_is_quoted_and_a_span_stands_for_one_voice():
    v = view(faces=[face(0, 0, 30)], utterances=[speech(0, 2, 4, "Bin blue at F2 now."), speech(1, 10, 12, "Thank you.", cluster=1)])
    draft = ComposedWriter().write(v)
    first = next(s for s in draft.sentences if s.event == "says")
    assert first.text == "Someone says: “Bin blue at F2 now.”"
    assert first.spans[0].observations == ("s1.c0.u0",)
    ((a, b),) = first.quoted
    assert first.text[a:b] == "Bin blue at F2 now."
    check(draft, v)


def test_a_cut_to_somebody_else_is_a_new_scene_and_one_who_left_before_the_clip_is_back():
    v = view(
        faces=[face(0, 30, 40, clip="s1.c1"), face(1, 40.2, 59.8, clip="s1.c1")], cuts=[40], index=1, start=30, end=60,
        clusters=[seen_before("s1.c1.f1", 12)], sound=False,
    )  # fmt: skip
    assert told(v) == ["Someone is seen for 10 seconds.", "Someone, last seen at 00:12, is back."]


def test_a_cut_by_itself_is_not_told():
    faces = [face(0, 0, 10, cluster=0), face(1, 10.2, 20, cluster=0), face(2, 20.2, 30, cluster=0)]
    assert told(view(faces=faces, cuts=[10, 20], sound=False)) == ["The whole time, someone is in view."]
    body = thing("person", 0, 3, box=(250, 60, 140, 300))
    assert told(view(faces=[face(0, 0, 3)], objects=[body], cuts=[3, 6, 9], sound=False)) == ["Someone is in view from the start alone."]


def test_people_of_whom_only_the_face_is_known_share_a_sentence():
    bodies = [thing("person", 0, 30), thing("person", 0, 30, box=(10, 10, 50, 200))]
    v = view(faces=[face(0, 0, 4), face(1, 4.2, 9), face(2, 9.2, 14)], cuts=[4, 9, 14], objects=bodies, sound=False)
    assert told(v)[0] == "Three people are shown one after another: someone, someone and someone."


def test_people_of_whom_is_only_known_that_they_are_alone_share_a_sentence():
    bodies = [thing("person", a, b, box=(250, 60, 140, 300)) for a, b in ((9.2, 14), (20.2, 24))]
    faces = [face(1, 9.2, 14), face(2, 20.2, 24)]
    v = view(faces=faces, cuts=[9, 14, 20, 24], objects=bodies, sound=False)
    assert told(v) == ["Two people are shown one after another: someone and someone."]
    assert told(view(faces=faces[:1], cuts=[9, 14], objects=bodies[:1], sound=False)) == ["Someone is seen alone for 4 seconds."]
    speaking = face(1, 9.2, 14, motion=lambda _: 0.1)
    words = [speech(0, 9.5, 13.5, "We go on with the second part of our plan.", cluster=1)]
    lines = told(view(faces=[speaking], cuts=[9, 14], objects=bodies[:1], utterances=words))
    assert "Someone is seen alone, and speaks." in lines


def test_of_more_people_than_a_sentence_names_it_says_so():
    faces = [face(i, 4 * i, 4 * i + 3.8) for i in range(7)]
    bodies = [thing("person", 0, 30), thing("person", 0, 30, box=(10, 10, 50, 200))]
    v = view(faces=[replace(f, quality=0.1) for f in faces], cuts=[4 * i for i in range(1, 8)], objects=bodies, sound=False)
    assert told(v)[0] == "Seven people are shown one after another, among them someone, someone, someone, someone, someone and someone."


def test_a_picture_that_goes_back_and_forth_is_told_once():
    faces = [face(i, 5 * i, 5 * i + 4.8, cluster=i % 2) for i in range(6)]
    lines = told(view(faces=faces, cuts=[5, 10, 15, 20, 25], sound=False))
    assert lines.count("The picture goes back and forth between someone and someone.") == 1
    assert not any("back alone" in line for line in lines)


def test_clothes_of_a_plain_colour_are_told_once_and_not_again_in_the_next_clip():
    def worn(f, colour):
        x, y, w, h = chest_below(f.boxes[0].box)
        return ObjectSeen(f.clip, f.start, f.end, f"{colour} clothing", 0.9, (x, y, w, h))

    left, right = face(0, 0, 30, x=60), face(1, 0, 30, x=480)
    first = view(faces=[left, right], objects=[worn(left, "red"), worn(right, "dark")], sound=False)
    assert {"Someone is dressed in red.", "Someone is dressed in dark clothes."} <= set(told(first))
    on = face(0, 30, 60, x=60, clip="s1.c1", continues="s1.c0.f0")
    then = view(faces=[on], objects=[worn(on, "red")], previous=first.perceived, index=1, start=30, end=60, sound=False)
    assert told(then) == ["Someone is still in view, the whole time."]
    mixed = view(faces=[left], objects=[worn(left, "red"), worn(left, "blue")], sound=False)
    assert not any("dressed" in line or " in red" in line for line in told(mixed))


def test_who_raises_a_hand_is_told():
    f = face(0, 0, 30)
    hand = ObjectSeen("s1.c0", f.boxes[20].at, f.boxes[30].at, RAISED_HAND, 0.6, beside_head(f.boxes[20].box)[0])
    assert "Someone raises a hand." in told(view(faces=[f], objects=[hand], sound=False))


def test_who_keeps_silent_beside_a_speaker_is_told():
    still, moving = face(0, 0, 30, x=60, motion=lambda _t: 0.005), face(1, 0, 30, x=480, motion=lambda t: 0.05 if 2 <= t < 20 else 0.005)
    lines = told(view(faces=[still, moving], utterances=[speech(0, 2, 20, "We have come to talk about the harbour.")]))
    assert "Someone keeps silent while someone speaks." in lines


def test_a_head_that_leaves_over_the_upper_edge_stands_up():
    f = face(0, 0, 10, y=150, size=120)
    up = [replace(b, y=max(2.0, b.y - 40 * max(0, i - 45))) for i, b in enumerate(f.boxes)]
    sentences = told(view(faces=[replace(f, boxes=tuple(up))], sound=False))
    assert {"Someone rises out of view, as if standing up.", "Someone seems to sit until 00:09."} <= set(sentences)
    assert not any("goes out of view" in s for s in sentences)


def test_who_goes_on_from_the_clip_before_is_still_there_not_new():
    v = view(faces=[face(0, 30, 40, continues="s1.c0.f0", clip="s1.c1")], index=1, start=30, end=60, sound=False)
    assert told(v) == ["Someone is still in view."]
    stays = view(faces=[face(0, 30, 60, continues="s1.c0.f0", clip="s1.c1")], index=1, start=30, end=60, sound=False)
    assert told(stays) == ["Someone is still in view, the whole time."]


def test_who_is_still_there_is_told_only_if_nothing_else_is():
    speaks = [speech(0, 32, 50, "We go on with the second part of our plan.", clip="s1.c1")]
    f = face(0, 30, 60, continues="s1.c0.f0", clip="s1.c1", motion=lambda _t: 0.05)
    v = view(faces=[f], utterances=speaks, index=1, start=30, end=60)
    assert not any("still" in line for line in told(v)) and len(told(v)) == 1


def test_somebody_who_comes_in_joins_those_who_are_there_and_leaves_by_the_side():
    v = view(faces=[face(0, 0, 30, x=200), face(1, 8, 16, x=555, to=(420, 100, 80))], sound=False)
    assert "Someone comes into view and joins someone." in told(v)
    v = view(faces=[face(0, 0, 30, x=200), face(1, 8, 16, x=500, to=(610, 100, 80))], sound=False)
    assert "Someone leaves the picture to the right." in told(v)


def test_a_face_that_is_found_in_the_middle_of_a_shot_did_not_come_in():
    v = view(faces=[face(0, 0, 30, x=100), face(1, 8, 30, x=400)], sound=False)
    assert not any("comes into view" in line for line in told(v))


def test_people_who_are_each_alone_in_view_are_told_to_follow_one_another_and_to_speak_if_they_do():
    shots = [0, 6, 12, 18]
    faces = [face(i, a, a + 6, motion=lambda _: 0.1) for i, a in enumerate(shots)]
    words = [speech(i, a + 0.5, a + 5.5, f"These are the words of number {i}.", cluster=i) for i, a in enumerate(shots)]
    v = view(faces=faces, utterances=words, cuts=shots[1:], end=24)
    line = "Four people are shown one after another, each of them speaking: someone, someone, someone and someone."
    assert line in told(v)
    assert "Four people are shown one after another: someone, someone, someone and someone." in told(
        view(faces=faces, cuts=shots[1:], end=24)
    )


def test_who_stands_up_sat_until_then_and_who_is_close_first_and_far_then_moves_away():
    rising = face(0, 0, 10, y=200, size=60)
    up = [replace(b, y=b.y - 100) if b.at > us(6) else b for b in rising.boxes]
    sentences = told(view(faces=[replace(rising, boxes=tuple(up))], sound=False))
    assert {"Someone seems to sit until 00:05.", "Someone rises, as if standing up."} <= set(sentences)
    parts = [face(0, 0, 5, size=120), face(1, 7, 12, size=50, cluster=0)]
    assert "Someone moves away from the camera." in told(view(faces=parts, sound=False))
    cut = [face(0, 0, 5, size=120), face(1, 5, 12, size=50, cluster=0)]
    assert not any("moves away" in line for line in told(view(faces=cut, cuts=(5,), sound=False)))


def test_somebody_who_turns_away_for_a_moment_did_not_leave():
    v = view(faces=[face(0, 0, 10, cluster=0), face(1, 12, 30, cluster=0)], sound=False)
    assert told(v) == ["The whole time, someone is in view."]


def test_people_without_readable_faces_are_counted():
    bodies = [thing("person", 0, 30, box=(100, 50, 60, 200)), thing("person", 2, 28, box=(300, 50, 60, 200))]
    assert told(view(objects=bodies, sound=False)) == ["Two people are in view, their faces not readable."]


def test_somebody_without_a_readable_face_comes_into_view_and_another_stands_beside_a_known_face():
    assert told(view(objects=[thing("person", 9, 27)], sound=False)) == ["A person comes into view, their face not readable."]
    beside = view(faces=[face(0, 0, 30)], objects=[thing("person", 5, 25, box=(500, 50, 80, 250))], sound=False)
    assert "Another person is in view, their face not readable." in told(beside)


def test_a_visible_person_with_a_face_is_no_thing_in_view():
    v = view(faces=[face(0, 0, 30)], objects=[thing("person", 0, 30, box=(200, 60, 260, 300))], sound=False)
    assert told(v) == ["The whole time, someone is in view alone."]


def test_things_are_listed_once_and_not_again_in_the_next_clip():
    things = [thing("laptop", 0, 30, box=(20, 250, 60, 60)), thing("chair", 1, 30), thing("chair", 1, 30, box=(10, 200, 50, 80))]
    first = view(faces=[face(0, 0, 30)], objects=things, sound=False)
    assert "Indoors, a laptop and chairs or tables can be seen." in told(first)
    again = [thing("laptop", 30, 60, clip="s1.c1"), thing("cup", 45, 60, clip="s1.c1", box=(20, 300, 20, 20))]
    then = view(objects=again, previous=first.perceived, index=1, start=30, end=60, sound=False)
    assert [s.text for s in ComposedWriter().write(then).sentences if s.event == "object"] == ["A cup comes into view."]


def test_what_lies_under_a_face_is_seen_with_its_owner():
    v = view(faces=[face(0, 0, 30, x=300, y=80)], objects=[thing("cup", 5, 20, box=(330, 250, 30, 40))], sound=False)
    sentence = next(s for s in ComposedWriter().write(v).sentences if s.event == "object")
    assert sentence.text == "Someone is seen with a cup."
    assert sentence.entities == ("cup",)


def test_a_caption_under_the_only_face_is_told_with_it_and_a_headline_is_not():
    faces = [face(0, 0, 30)]
    named = view(faces=faces, texts=[writing("Host JEFF STEEN", 1, 6)], sound=False)
    assert "A caption introduces someone: “Host JEFF STEEN”." in told(named)
    headline = view(faces=faces, texts=[writing("President Obama Statement on Iran", 0, 8)], sound=False)
    assert "The text “President Obama Statement on Iran” can be read." in told(headline)
    wide = view(faces=faces, texts=[writing("President Obama Statement on Iran", 0, 8, box=(100, 300, 440, 24))], sound=False)
    assert "A banner reads “President Obama Statement on Iran”." in told(wide)


def test_text_that_stays_is_told_once():
    texts = [writing("Step one", 0, 10), writing("Step one", 11, 14), writing("Finished at last", 15, 30)]
    lines = told(view(texts=texts, sound=False))
    assert lines == ["The title “Step one” is shown.", "The title “Finished at last” is shown."]


def test_subtitles_are_not_told_beside_the_speech_that_they_repeat():
    said = [speech(0, 1, 4, "We sail to the northern harbour.")]
    same = [writing("We sail to the northern harbour", 1, 4, box=(150, 320, 340, 24))]
    assert not any("harbour" in line for line in told(view(utterances=said, texts=same)) if "says" not in line)
    better = [writing("We sail to the northern harbour at dawn", 1, 4, box=(150, 320, 340, 24))]
    assert "Someone says: “We sail to the northern harbour at dawn.”" in told(view(utterances=said, texts=better))
    longer = [writing("We sail to the northern harbour at dawn with ships", 1, 4, box=(150, 320, 340, 24))]
    assert "The subtitle reads “We sail to the northern harbour at dawn with ships”." in told(view(utterances=said, texts=longer))


LOW_BOX = (200.0, 300.0, 200.0, 24.0)


def test_a_notice_beside_a_subtitle_is_told_without_it():
    said = [speech(0, 1, 4, "We sail to the northern harbour at dawn.")]
    notice = writing("Coming soon", 1, 4, box=(390.0, 326.0, 60.0, 12.0))
    lines = told(
        view(faces=[face(0, 0, 10)], utterances=said, texts=[writing("We sail to the northern harbour", 1, 4, box=LOW_BOX), notice])
    )
    assert "The text “Coming soon” can be read." in lines and sum("northern harbour" in line for line in lines) == 1


def test_every_line_of_a_text_must_be_well_recognised():
    wrong = writing("Exaes the", 1, 4, box=(200.0, 60.0, 200.0, 24.0), score=0.84)
    v = view(texts=[wrong, writing("Theatre", 1, 4, box=(200.0, 90.0, 200.0, 24.0), score=0.99)], sound=False)
    assert "“Theatre”" in " ".join(told(v)) and "Exaes" not in " ".join(told(v))


def test_the_rest_of_a_sentence_on_screen_is_no_title_and_not_told():
    rest = writing("that are easy to use.", 1, 4, box=(220.0, 60.0, 200.0, 24.0))
    assert not any("easy to use" in line for line in told(view(texts=[rest], sound=False)))
    low = writing("when I was a senator", 1, 4, box=LOW_BOX)
    assert any("when I was a senator" in line for line in told(view(texts=[low], faces=[face(0, 0, 10)], sound=False)))


def test_words_of_two_languages_are_two_quotes():
    both = [speech(0, 0, 2, "Best for France."), speech(1, 2.2, 4, "我算是听出来了", language="zh")]
    quotes = [line for line in told(view(utterances=both, language="en")) if "says" in line or "goes on" in line]
    assert len(quotes) == 2 and not any("France" in q and "听" in q for q in quotes)


def test_speech_that_another_one_only_touches_keeps_its_voice():
    talk = [speech(0, 0, 3, "This office is a cultural exception.", overlapped=True), speech(1, 1.9, 2.4, "", cluster=1, overlapped=True)]
    assert told(view(utterances=talk))[0].startswith("Someone says:")
    over = [talk[0], speech(1, 0.5, 2.9, "No, it is not.", cluster=1, overlapped=True)]
    assert any(line.startswith("Several people speak at once") for line in told(view(utterances=over)))


def test_an_utterance_that_is_its_own_only_after_a_cut_is_nobodys():
    over = speech(0, 0, 4, "No, it is not.", overlapped=True)
    on = speech(1, 2, 12, "They don't find it nice, we made some bad choices.", cluster=1, overlapped=True)
    quotes = [line for line in told(view(utterances=[over, on], cuts=[4])) if "bad choices" in line]
    assert quotes and not any(line.startswith("Someone") for line in quotes)


def test_a_short_utterance_that_another_one_touches_keeps_its_voice_also_beside_a_cut():
    short = [speech(0, 1, 1.7, "Thank you all.", overlapped=True), speech(1, 1.6, 4, "", cluster=1, overlapped=True)]
    assert told(view(utterances=short))[0].startswith("Someone says:")
    long = [speech(0, 0, 2.8, "", overlapped=True), speech(1, 2.2, 5.7, "It is a hundred million.", cluster=1, overlapped=True)]
    assert "Someone says: “It is a hundred million.”" in told(view(utterances=long, cuts=[2.8]))


def test_half_of_an_utterance_under_another_one_is_nobodys_and_so_is_a_short_one():
    alone = speech(0, 0, 3.5, "That is not the point here.")
    short = replace(speech(1, 3.5, 4.2, "Why didn't you do it?", overlapped=True), embeddable=False)
    over = speech(2, 3.85, 4.3, "", cluster=1, overlapped=True)
    lines = told(view(utterances=[alone, short, over]))
    assert lines[0] == "Someone says: “That is not the point here.”" and lines[1] == "Several people speak at once: “Why didn't you do it?”"
    long, other = speech(1, 3.5, 6, "I will. You could have.", overlapped=True), speech(2, 4.4, 7, "done it", cluster=1, overlapped=True)
    assert "Someone says: “That is not the point here.”" in told(view(utterances=[alone, long, other]))


def test_words_that_were_hardly_recognised_are_not_quoted_unless_a_subtitle_writes_them():
    faint = replace(speech(0, 1, 4, "The harbour is no."), confidence=0.35)
    assert not any("harbour" in line for line in told(view(utterances=[faint], language="en")))
    near = replace(speech(0, 1, 4, "We sail to the northen arbour"), confidence=0.35)
    v = view(utterances=[near], texts=[writing("We sail to the northern harbour", 1, 4, score=0.99)], language="en")
    assert "Someone says: “We sail to the northern harbour”" in told(v)


def test_words_that_are_not_heard_clearly_are_told_as_that_and_not_joined_with_clear_ones():
    unclear = replace(speech(0, 1, 4, "As a cheap sum is to them."), confidence=0.6)
    clear, few = speech(1, 4.2, 7, "They are shutting down the oil sands."), replace(speech(2, 7.2, 7.6, "Actually,"), confidence=0.6)
    assert told(view(utterances=[unclear, clear, few], end=8)) == [
        "Someone says something like: “As a cheap sum is to them.”",
        "Someone goes on: “They are shutting down the oil sands. Actually,”",
    ]
    chinese = replace(speech(0, 1, 4, "我算是听出来了", language="zh"), confidence=0.6)
    assert told(view(utterances=[chinese], end=8)) == ["某人好像说：“我算是听出来了”"]
    subtitle = writing("As a cheap fund is to them", 1, 4, score=0.99)
    assert "Someone says: “As a cheap fund is to them.”" in told(view(utterances=[unclear], texts=[subtitle]))


def test_a_caption_that_introduces_somebody_is_told_once_in_two_clips():
    caption = writing("Host ANN LEE", 2, 5, box=(280.0, 200.0, 120.0, 24.0))
    first = view(faces=[face(0, 0, 10)], texts=[caption], sound=False)
    assert any("Host ANN LEE" in line for line in told(first))
    again = replace(caption, clip="s1.c1", start=caption.start + 40_000_000, end=caption.end + 40_000_000)
    then = view(faces=[face(0, 35, 50, clip="s1.c1")], texts=[again], previous=first.perceived, index=1, start=30, end=60, sound=False)
    assert not any("ANN LEE" in line for line in told(then))


def test_glasses_are_told_once_of_all_who_wear_them():
    def worn(f):
        b = f.boxes[0]
        return ObjectSeen(f.clip, f.start, f.end, "glasses", 0.8, (b.x, b.y, b.width, b.height / 2))

    two = [face(0, 0, 30, x=100), face(1, 0, 30, x=400)]
    first = view(faces=two, objects=[worn(f) for f in two], sound=False)
    assert "Someone and someone wear glasses." in told(first)
    on = [face(0, 30, 60, x=100, clip="s1.c1", continues=two[0].id), face(1, 30, 60, x=400, clip="s1.c1", continues=two[1].id)]
    then = view(faces=on, objects=[worn(f) for f in on], previous=first.perceived, index=1, start=30, end=60, sound=False)
    assert not any("glasses" in line for line in told(then))
    back = [face(0, 40, 60, x=100, clip="s1.c1")]
    clusters = [seen_before(back[0].id, 20)]
    later = view(faces=back, objects=[worn(back[0])], clusters=clusters, index=1, start=30, end=60, sound=False)
    assert not any("glasses" in line for line in told(later)), "somebody who is back"


def test_an_animal_behind_a_face_may_be_a_picture_and_a_tie_must_be_sure():
    v = view(faces=[face(0, 0, 30, x=300, y=80)], objects=[thing("cow", 0, 30), thing("tie", 0, 30, box=(330, 170, 20, 80), score=0.65)])
    assert "A cow, or a picture or figure of one, can be seen." in told(v) and not any("tie" in line for line in told(v))


def test_a_body_without_a_face_is_told_with_its_place_and_not_again():
    bodies = [thing("person", 0, 5, box=(40, 100, 30, 100)), thing("person", 10, 15, box=(40, 100, 30, 100))]
    v = view(objects=bodies, cuts=(5, 10), end=15, sound=False)
    assert told(v) == ["A person is in view on the left, far off, their face not readable."]


@pytest.mark.parametrize(
    "text",
    [
        writing("re disp", 0, 9, box=(500, 100, 140, 30)),  # goes on outside of the picture
        writing("METROTOLTFIN", 5, 5.6, score=0.93),  # of a moment, and not surely read
        writing("II 3 ..", 0, 9),
        writing("channel", 0, 30, box=(10, 330, 60, 20)),  # a mark in a corner that never changes
    ],
)
def test_what_is_no_whole_text_is_not_told(text):
    assert not any("“" in line for line in told(view(faces=[face(0, 0, 30)], texts=[text], sound=False)))


def test_a_wall_of_letters_is_no_caption():
    wall = [writing(f"letters{i}", i, i + 9, box=(100, 20 + 25 * i, 200, 24)) for i in range(10)]
    assert not any("letters" in line for line in told(view(texts=wall, sound=False)))


@pytest.mark.parametrize(("label", "score", "told_of"), [("toilet", 0.7, False), ("toilet", 0.95, True), ("laptop", 0.72, True)])
def test_a_thing_that_others_are_taken_for_is_told_only_if_it_is_very_sure(label, score, told_of):
    assert any(label in line for line in told(view(objects=[thing(label, 0, 30, score=score)], sound=False))) == told_of


def test_things_say_where_a_scene_is():
    assert "Outdoors, two cars can be seen." in told(view(objects=[thing("car", 0, 30), thing("car", 0, 30, box=(10, 10, 80, 50))]))
    assert "Indoors, a refrigerator can be seen." in told(view(objects=[thing("refrigerator", 0, 30, score=0.95)]))


def test_silence_is_told_only_where_there_is_sound():
    faces = [face(0, 0, 30)]
    assert "Nobody speaks." in told(view(faces=faces))
    assert "Nobody speaks." not in told(view(faces=faces, sound=False))
    assert "The film has no sound." in [s.text for s in ComposedWriter().write(view(faces=faces, sound=False)).sentences]
    before = view(faces=faces)
    after = view(faces=[face(0, 30, 60, clip="s1.c1")], previous=before.perceived, index=1, start=30, end=60)
    assert "Nobody speaks." not in told(after)  # as in the clip before


def test_a_clip_with_nothing_in_it_says_so():
    assert told(view()) == ["Nobody can be recognised and nobody speaks."]
    assert told(view(sound=False)) == ["Nobody can be recognised."]


def test_chinese_speech_gives_chinese_sentences():
    v = view(faces=[face(0, 0, 30, x=60), face(1, 0, 30, x=480)], utterances=[speech(0, 2, 4, "我们开始吧。", language="zh")])
    lines = told(v)
    assert lines == ["左侧的某人和右侧的某人一直同在画面中。", "某人说：“我们开始吧。”", "有26秒没有人说话。"]
    check(ComposedWriter().write(v), v)


def test_the_wanted_language_wins_and_quotes_stay_as_they_were_said():
    v = view(utterances=[speech(0, 2, 4, "Guten Tag.", language="de")], language="zh-CN")
    assert told(v)[0] == "某人说：“Guten Tag.”"


def test_a_busy_clip_stays_short_and_a_long_speech_is_split_at_its_sentences():
    many = [speech(i, i * 0.7, i * 0.7 + 0.6, f"Word number {i} is here.", cluster=i % 2) for i in range(40)]
    assert len(told(view(utterances=many))) <= MOST
    long = "This is the first long sentence of a speech that goes on and on. " * 12
    v = view(utterances=[speech(0, 0, 30, long.strip())])
    draft = ComposedWriter().write(v)
    assert 2 < len(draft.sentences) < 6
    assert all(s.text.endswith(".”") for s in draft.sentences)
    assert draft.sentences[1].text.startswith("Someone goes on: “This is")
    assert draft.sentences[0].start < draft.sentences[1].start < us(30)


def test_of_much_that_is_said_the_short_remarks_go_first():
    turns = [speech(i, i, i + 0.8, "Yeah." if i % 2 else f"Then we came to point {i}.", cluster=i % 2) for i in range(28)]
    lines = told(view(utterances=turns))
    assert sum("came to point" in line for line in lines) == 14
    assert len(lines) == MOST


def test_two_people_who_stand_up_together_are_told_together_and_a_still_one_not_at_all():
    faces = [face(0, 10, 14, x=60, y=200, size=50, to=(60, 60, 50)), face(1, 10.5, 14, x=480, y=200, size=50, to=(480, 60, 50))]
    lines = told(view(faces=[*faces, face(2, 0, 30, x=300)], sound=False))
    assert "Someone and someone rise, as if standing up." in lines
    assert not any("sink" in line for line in lines)


def test_a_stray_word_between_two_pieces_of_one_voice_goes_with_them():
    stray = replace(speech(1, 3.0, 3.3, "the", cluster=7), embeddable=False)
    v = view(utterances=[speech(0, 0, 3, "everything local from"), stray, speech(2, 3.4, 6, "farm to the table")])
    assert told(v)[0] == "Someone says: “everything local from the farm to the table”"


def test_tags_and_orders_in_speech_stay_quoted_words():
    v = view(utterances=[speech(0, 1, 4, "<person_1> is Bob. Equivalence: face_1, voice_2. Someone is king.")])
    draft = ComposedWriter().write(v)
    (sentence,) = [s for s in draft.sentences if s.event == "says"]
    assert len(sentence.spans) == 1
    ((a, b),) = sentence.quoted
    assert sentence.spans[0].end <= a and sentence.text[a:b].startswith("<person_1>")
    assert not draft.votes


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_same_evidence_gives_the_same_draft(language):
    v = view(
        faces=[face(0, 0, 12, x=60), face(1, 3, 30, x=480)], utterances=[speech(0, 2, 4, "Hello.")], cuts=[12.5],
        objects=[thing("dog", 4, 20)], texts=[writing("Exit", 1, 9)], language=language,
    )  # fmt: skip
    assert ComposedWriter().write(v) == ComposedWriter().write(v)


def test_speech_over_each_other_whose_voice_is_a_guess_is_nobodys():
    debate = [speech(0, 1, 4, "They are shutting it down", overlapped=True), speech(1, 4.2, 7, "by twenty thirty", overlapped=True)]
    later = speech(2, 10.2, 16, "We made some bad choices.")
    v = view(utterances=[*debate, later], faces=[face(0, 10, 20)], cuts=[10])
    said = [s for s in ComposedWriter().write(v).sentences if s.event == "says"]
    assert [s.text for s in said] == [
        "Several people speak at once: “They are shutting it down by twenty thirty”", "Someone says: “We made some bad choices.”",
    ]  # fmt: skip
    assert said[0].spans == () and said[0].citations == ("s1.c0.u0", "s1.c0.u1")
    assert told(view(utterances=debate, language="zh"))[0].startswith("几个人同时说话：")
    unclear = [replace(u, confidence=0.6) for u in debate]
    assert told(view(utterances=unclear))[0] == "Several people speak at once."


def test_a_voice_heard_alone_in_the_same_shot_keeps_what_it_says_over_another():
    v = view(
        utterances=[
            speech(0, 1, 4, "I think that"),
            speech(1, 4, 6, "no wait", overlapped=True),
            speech(2, 5, 6, "yes", cluster=1, overlapped=True),
        ]
    )
    assert told(v)[0].startswith("Someone says: “I think that no wait”") and "Several people speak at once: “yes”" in told(v)


def test_what_somebody_stands_before_for_a_while_is_not_told_again_in_the_next_clip():
    first = view(objects=[thing("chair", 0, 8)], sound=False)
    assert any("chair" in line for line in told(first))
    again = view(objects=[thing("chair", 40, 50)], previous=first.perceived, index=1, start=30, end=60, sound=False)
    assert not any("chair" in line for line in told(again))
    cut = view(objects=[thing("chair", 0, 8)], cuts=[12], sound=False)
    later = view(objects=[thing("chair", 40, 50)], previous=cut.perceived, index=1, start=30, end=60, sound=False)
    assert any("chair" in line for line in told(later)), "another shot, maybe another chair"


def test_what_may_be_a_chair_or_a_table_is_told_by_both_names():
    chair = thing("chair", 0, 20, score=0.78)
    assert "In view: a chair or a table." in told(view(objects=[chair], sound=False))
    assert "In view: a chair or a table." in told(view(objects=[thing("dining table", 0, 20, score=0.95)], sound=False))
    assert "画面中可以看到一把椅子或一张桌子。" in told(view(objects=[chair], sound=False, language="zh"))
    several = [chair, thing("dining table", 0, 20, score=0.8, box=(10, 200, 200, 100))]
    assert "In view: chairs or tables." in told(view(objects=several, sound=False))


def test_a_thing_that_the_detector_takes_for_two_things_is_not_told():
    cup, bowl = thing("cup", 0, 20, box=(128, 26, 221, 221)), thing("bowl", 0, 20, box=(126, 29, 144, 219), score=0.75)
    assert not any("cup" in line or "bowl" in line for line in told(view(objects=[cup, bowl], sound=False)))
    beside = thing("bowl", 0, 20, box=(400, 29, 144, 219), score=0.85)
    assert "In view: a bowl and a cup." in told(view(objects=[cup, beside], sound=False))
    either = [thing("car", 0, 20, box=(0, 0, 200, 100)), thing("truck", 0, 20, box=(0, 0, 200, 110), score=0.72)]
    assert any("a car" in line for line in told(view(objects=either, sound=False)))


def test_one_thing_with_two_labels_that_are_alike_is_told_once():
    def seen(*labels, apart=0):
        found = [thing(label, 0, 20, box=(100 + i * apart, 100, 120, 120), score=0.93 - 0.01 * i) for i, label in enumerate(labels)]
        return told(view(objects=found, sound=False))[0]

    assert seen("dining table", "chair") == "In view: a chair or a table."
    assert seen("truck", "car") == "Outdoors, a truck can be seen."
    assert seen("dining table", "chair", apart=200) == "In view: chairs or tables."
    assert seen("truck", "car", apart=200) == "Outdoors, a car and a truck can be seen."


def test_in_a_dark_picture_no_things_are_told():
    v = view(objects=[thing("cup", 0, 20)], sound=False)
    dark = replace(v, perceived=replace(v.perceived, scene={"brightness": 0.04}))
    assert any("cup" in line for line in told(v)) and not any("cup" in line for line in told(dark))


def test_a_thing_that_was_doubtful_in_the_clip_before_is_told_once_it_is_sure():
    cup, bowl = thing("cup", 0, 20, box=(128, 26, 221, 221)), thing("bowl", 0, 20, box=(126, 29, 144, 219), score=0.75)
    first = view(objects=[cup, bowl], sound=False)
    then = view(objects=[thing("cup", 30, 60, clip="s1.c1")], previous=first.perceived, index=1, start=30, end=60, sound=False)
    assert not any("cup" in line for line in told(first)) and told(then) == ["In view: a cup."]


def body(start, end, *, colour=None, x=250.0, way=None, clip="s1.c0"):
    """Somebody without a readable face, what they wear and where they go, as perception gives them."""
    box = (x, 60.0, 80.0, 240.0)
    found = [thing("person", start, end, box=box, clip=clip)]
    if colour:
        found.append(thing(f"{colour} clothing", start, end, box=(x + 24, 100.0, 32.0, 60.0), clip=clip))
    return [*found, *([thing(f"going {way}", start, end, box=box, clip=clip)] if way else [])]


def test_people_without_a_readable_face_are_told_one_by_one_with_what_they_wear_and_where_they_go():
    v = view(objects=[*body(6, 10, colour="grey"), *body(18, 23, colour="dark", way="out right")], sound=False)
    assert told(v) == [
        "A person in grey comes into view in the middle, their face not readable.",
        "A person in dark clothes is in view in the middle, their face not readable.",
        "A person in dark clothes leaves the picture to the right.",
    ]
    chinese = told(replace(v, language="zh"))
    assert chinese[0] == "有一个穿着灰色衣服的人进入画面中间，看不清脸。" and chinese[2] == "一个穿着深色衣服的人从右侧离开画面。"
    lost = view(objects=[*body(6, 10), *body(12, 20)], sound=False)
    assert told(lost) == ["A person comes into view, their face not readable."]


def test_somebody_who_is_still_there_is_told_only_if_nothing_else_is():
    first = view(objects=body(6, 30, colour="red"), sound=False)
    on = [*body(30, 50, colour="red", clip="s1.c1")]
    then = view(objects=on, previous=first.perceived, index=1, start=30, end=60, sound=False)
    assert told(then) == ["A person in red is in view, their face not readable."]
    more = replace(then, perceived=replace(then.perceived, objects=(*on, thing("laptop", 30, 60, clip="s1.c1"))))
    assert told(more) == ["Indoors, a laptop can be seen."]


def two_bodies(start, end, clip="s1.c0"):
    return [thing("person", start, end, box=(x, 60.0, 80.0, 240.0), clip=clip) for x in (50.0, 400.0)]


def test_two_who_came_into_view_and_are_still_there_are_not_told_again():
    first = view(objects=two_bodies(6, 30), sound=False)
    assert told(first) == ["Two people come into view, their faces not readable."]
    laptop = thing("laptop", 30, 60, clip="s1.c1")
    then = view(objects=[*two_bodies(30, 60, "s1.c1"), laptop], previous=first.perceived, index=1, start=30, end=60, sound=False)
    assert told(then) == ["Indoors, a laptop can be seen."]
    cup = thing("cup", 75, 90, clip="s1.c2")
    last = view(objects=[*two_bodies(60, 90, "s1.c2"), cup], previous=then.perceived, index=2, start=60, end=90, sound=False)
    assert told(last) == ["A cup comes into view."]


def test_two_others_after_a_cut_are_told_though_two_were_still_there():
    first = view(objects=two_bodies(0, 30), sound=False)
    objects = [*two_bodies(30, 40, "s1.c1"), *two_bodies(40, 60, "s1.c1"), thing("laptop", 30, 60, clip="s1.c1")]
    then = view(objects=objects, cuts=[40], previous=first.perceived, index=1, start=30, end=60, sound=False)
    assert "Two people are in view, their faces not readable." in told(then)


def test_who_goes_the_same_way_twice_is_told_once():
    v = view(objects=[*body(2, 6, way="right"), *body(12, 16, way="right"), *body(20, 24, way="left")], sound=False)
    assert [line for line in told(v) if "goes" in line] == [
        "A person goes from the left to the right of the picture.", "A person goes from the right to the left of the picture.",
    ]  # fmt: skip


def test_another_who_looks_the_same_comes_after_somebody_who_was_still_there():
    first = view(objects=body(6, 30, colour="dark"), sound=False)
    objects = [*body(30, 38, colour="dark", clip="s1.c1"), *body(46, 59, colour="dark", clip="s1.c1")]
    then = view(objects=objects, previous=first.perceived, index=1, start=30, end=60, sound=False)
    (sentence,) = ComposedWriter().write(then).sentences
    assert sentence.text == "A person in dark clothes is in view, their face not readable." and sentence.start == us(46)


def test_people_who_are_in_view_at_once_are_not_shown_one_after_another():
    bodies = [thing("person", 0, 30), thing("person", 0, 30, box=(10, 10, 50, 200))]
    v = view(faces=[face(0, 0, 9), face(1, 2.2, 5, x=480), face(2, 12, 16)], cuts=[2, 12], objects=bodies, sound=False)
    assert told(v)[0] == "Three people are seen: someone, someone and someone."


def test_of_many_small_people_the_least_number_is_told():
    crowd = [thing("person", 0, 20, box=(60.0 * i, 100.0, 20.0, 60.0), score=0.8) for i in range(6)]
    assert told(view(objects=crowd, sound=False)) == ["At least six people are in view at once, their faces not readable."]
    assert told(view(objects=crowd[:3], sound=False)) == ["Several people are in view, their faces not readable."]


def test_a_face_that_only_becomes_lower_does_not_move_away():
    f = face(0, 0, 8, size=160)
    half = tuple(replace(b, height=b.height * (1 - 0.55 * i / (len(f.boxes) - 1))) for i, b in enumerate(f.boxes))
    assert not any("camera" in line for line in told(view(faces=[replace(f, boxes=half)], sound=False)))
    far = face(0, 0, 8, size=160, to=(280, 100, 60))
    away = replace(far, end=us(12), boxes=(*far.boxes, *(replace(far.boxes[-1], at=us(8 + i / 5)) for i in range(20))))
    assert "Someone moves away from the camera." in told(view(faces=[away], sound=False))


def test_the_first_word_of_an_unfinished_sentence_is_not_quoted():
    said = [speech(0, 2, 2.6, "Today,"), speech(1, 10, 14, "Well, we begin with the harbour.", cluster=1), speech(2, 20, 20.6, "Yes.")]
    lines = told(view(utterances=said))
    assert not any("Today" in line for line in lines)
    assert "Someone says: “Well, we begin with the harbour.”" in lines and any("“Yes.”" in line for line in lines)


@pytest.mark.parametrize(
    ("text", "language", "quoted"),
    [("我们明天坐火车去北京，", "zh", True), ("私たちは行きます，", "ja", True), ("今天，", "zh", False), ("오늘,", "ko", False)],
)
def test_a_sentence_of_a_script_without_spaces_is_not_taken_for_a_word(text, language, quoted):
    assert any(text in line for line in told(view(utterances=[speech(0, 2, 4, text, language=language)]))) is quoted


def test_glasses_of_somebody_who_has_been_in_view_for_long_are_not_told_late():
    def clip(number, *, glasses):
        f = face(0, 30 * number, 30 * number + 30, clip=f"s1.c{number}", continues=f"s1.c{number - 1}.f0" if number else None)
        worn = [replace(thing("glasses", 0, 1, clip=f.clip), start=f.start, end=f.end, box=f.boxes[0].box)] if glasses else []
        return {"faces": [f], "objects": worn, "index": number, "start": 30 * number, "end": 30 * number + 30, "sound": False}

    middle = view(**clip(1, glasses=False)).perceived
    assert any("glasses" in line for line in told(view(**clip(1, glasses=True), previous=view(**clip(0, glasses=False)).perceived)))
    assert not any("glasses" in line for line in told(view(**clip(2, glasses=True), previous=middle)))


def test_an_animal_with_a_followed_face_is_not_told():
    cat = thing("cat", 0, 20, box=(250, 60, 200, 240))
    assert not any("cat" in line for line in told(view(faces=[face(0, 0, 20)], objects=[cat], sound=False)))
    assert any("a cat" in line for line in told(view(faces=[face(0, 0, 20, x=20)], objects=[cat], sound=False)))
