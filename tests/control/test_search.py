"""Search by words, meaning, people, times and clips: each result has its reason; what was learned later stays hidden."""

import pytest

from tests.control.made import chinese, english, searching


@pytest.fixture
def search(tmp_path):
    return searching(english(), tmp_path)


def test_the_best_node_holds_what_was_asked(search):
    best = search.nodes("red mug in the kitchen")[0]
    assert "red mug" in best.content and "words: red, mug" in best.why and "meaning" in best.why
    assert 0 < best.score <= 1 and best.people == ("person_1",) and best.clip == "s1.c0"


def test_a_person_in_the_query_restricts_and_boosts(search):
    found = search.nodes("what does Jeff Steen say", kinds=["episodic"])
    assert found[0].people == ("person_2",) and "Jeff Steen?" in found[0].why
    assert search.nodes("Person 3", k=3, kinds=["episodic"])[0].people == ("person_3",)


def test_text_on_screen_labels_and_speech_are_found(search):
    assert "JEFF STEEN" in search.nodes("caption host", kinds=["episodic"])[0].content
    assert "dining table" in search.nodes("tables", kinds=["episodic"])[0].content
    assert "Zurich" in search.nodes("flights to zürich")[0].content


def test_faces_voices_and_things_are_nodes_too(search):
    assert {f.id for f in search.nodes("Ann Lee", kinds=["face", "voice"])} == {"face_1", "voice_1"}
    assert search.nodes("budget", kinds=["face"])[0].id == "face_2"
    assert search.nodes("dining table", kinds=["object"])[0].content == "dining table"
    assert {f.type for f in search.nodes("the red mug", kinds=["semantic"])} == {"semantic"}


def test_a_named_clip_or_time_is_fetched_whole(search):
    clip = search.clips("CLIP_1")[0]
    assert clip.clip == "s1.c1" and len(clip.memories) == 2 and clip.score == 1
    assert {f.clip for f in search.nodes("what happens after 1:30")} == {"s1.c3"}
    assert {f.clip for f in search.nodes("mug", source="s1", start=30_000_000, end=60_000_000)} <= {"s1.c1"}


def test_clips_are_ranked_over_their_memories(search):
    found = search.clips("budget show", k=2)
    assert found[0].clip == "s1.c0" and len(found) <= 2 and any("budget" in m.content for m in found[0].memories)


def test_what_was_learned_later_is_hidden(search):
    assert any(f.clip == "s1.c3" for f in search.nodes("bin blue"))
    assert all(f.clip < "s1.c2" for f in search.nodes("bin blue", before=("s1", 1)))
    assert search.nodes("Ann Lee mug", before=("s1", -1)) == []
    assert search.clips("bin blue", before=("s1", -1)) == []


def test_chinese_is_found_by_chinese_words(tmp_path):
    search = searching(chinese(), tmp_path)
    assert "杯子" in search.nodes("杯子在哪里？")[0].content
    assert search.nodes("李明", kinds=["episodic"])[0].people == ("person_1",)


def test_without_a_text_model_words_find_and_it_says_so(tmp_path):
    search = searching(english(), tmp_path, vectors=False)
    assert "budget" in search.nodes("the budget")[0].content
    assert search.notices and "keywords only" in search.notices[0]


def test_the_same_query_gives_the_same_results(search):
    assert search.nodes("who talks about the mug at home") == search.nodes("who talks about the mug at home")
