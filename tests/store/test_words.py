"""Words of sentences for search: case-folded, stemmed, split; Chinese and other scripts."""

from m3desk.domain.stemming import stem
from m3desk.store.index.words import words


def test_words_are_folded_stemmed_and_without_stop_words():
    assert words("The café's doors were opened, opening; opens") == ["cafe", "door", "open", "open", "open"]
    assert words("bin blue at F2 now") == ["bin", "blue", "f2", "now"]
    assert words("他在会议室里打开了白板") == [w for w in words("他在会议室里打开了白板") if len(w) >= 1] and "会议室" in words(
        "会议室里的白板"
    )
    assert words("Who introduces himself, and they themselves?") == words("introduces")
    assert words("???") == [] and words("") == []
    assert stem("waves") == stem("waving") == stem("waved") and stem("bus") == "bus" and stem("running") == "run"
