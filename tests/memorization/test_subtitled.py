"""What is said is quoted as its subtitle writes it, where the subtitle is of these words."""

from __future__ import annotations

from dataclasses import replace

from m3desk.memorization import captions
from m3desk.memorization.compose import ComposedWriter
from m3desk.memorization.subtitled import corrected
from tests.memorization.evidence import speech, view, writing

LOW = (150, 320, 340, 24)


def said(utterances, *subtitles):
    shown = captions.group([writing(text, a, b, box=LOW) for text, a, b in subtitles])
    return [u.text for u in corrected(utterances, shown)]


def test_misheard_words_are_spelled_as_the_subtitle_writes_them_each_in_its_utterance():
    heard = [speech(0, 0.6, 1.2, "走了", language="zh"), speech(1, 2.4, 4.5, "我手机钱包都在包里", language="zh")]
    assert said(heard, ("糟了我手机钱包都在包里呢", 0.8, 4.5)) == ["糟了", "我手机钱包都在包里呢"]


def test_two_subtitles_spell_one_utterance_and_what_none_of_them_writes_stays():
    heard = [speech(0, 0, 6, "So, we sale to the northern harbor at dorn, and that is all.")]
    spelled = said(heard, ("We sail to the northern", 0, 2), ("harbour at dawn", 2.2, 4))
    assert spelled == ["So, We sail to the northern harbour at dawn, and that is all."]


def test_a_mark_at_the_end_of_a_subtitle_stands_in_the_place_of_the_one_that_was_heard():
    for heard, written, spelled in (
        ("We sale to the harbor.", "We sail to the harbour.", "We sail to the harbour."),
        ("We sale to the harbor? Yes.", "We sail to the harbour!", "We sail to the harbour! Yes."),
        ("We sale to the harbor.", "“We sail to the harbour.”", "“We sail to the harbour.”"),
        ("We sale to the harbor.", "We sail to the harbour", "We sail to the harbour."),
        ("我算是听粗来了。", "我算是听出来了！", "我算是听出来了！"),
    ):
        assert said([speech(0, 0, 4, heard)], (written, 0, 4)) == [spelled], written


def test_a_text_that_says_something_else_spells_nothing():
    heard = [speech(0, 0, 4, "We sail to the northern harbour."), speech(1, 4, 6, "我手机钱包都在包里", language="zh")]
    for text in ("President Obama Statement on Iran", "It was never meant to be like this", "有季福 十五年等待候鸟回首", "我们"):
        assert said(heard, (text, 1, 5)) == [u.text for u in heard]


def test_a_subtitle_of_another_time_or_one_that_leaves_out_words_spells_nothing():
    heard = [speech(0, 0, 4, "We sail to the northern harbour in the morning of the day.")]
    assert said(heard, ("We sail to the northern harbor", 9, 12)) == [heard[0].text]
    assert said(heard, ("We sail to the day", 0, 4)) == [heard[0].text]


def test_a_pause_in_a_chinese_subtitle_is_a_comma_and_its_translation_is_no_part_of_it():
    heard = [speech(0, 0, 4, "我算是听粗来了你们都不是好东西", language="zh")]
    texts = [
        writing("我算是听出来了 你们都不是好东西", 0, 4, box=(150, 300, 340, 24)),
        writing("Now I see what you all are", 0, 4, box=(150, 326, 340, 20)),
    ]
    (line,) = (s for s in ComposedWriter().write(view(utterances=heard, texts=texts)).sentences if s.event == "says")
    assert line.text == "某人说：“我算是听出来了，你们都不是好东西”"


def test_the_utterance_keeps_its_times_voice_and_words():
    heard = [speech(0, 0, 4, "我手机钱包都在包理", language="zh", cluster=3)]
    (one,) = corrected(heard, captions.group([writing("我手机钱包都在包里", 0, 4, box=LOW)]))
    assert one == replace(heard[0], text="我手机钱包都在包里")
