"""Splits a sentence into words for the keyword index: case-folded stems for Latin script, jieba for Chinese, character pairs for others."""

from __future__ import annotations

import logging
import re
import threading
import unicodedata
from typing import Any

from m3desk import private
from m3desk.domain.stemming import stem
from m3desk.paths import data_dir

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_OTHER = "\u0e00-\u0e7f\u3040-\u30ff\uac00-\ud7af"
"""Scripts written without spaces between words that jieba doesn't know (Thai, kana) and Hangul, whose endings run on: pairs of letters."""
_RUN = re.compile(rf"[{_HAN}]+|[{_OTHER}]+|[^\W_{_HAN}{_OTHER}]+(?:['’][^\W\d_]+)*")

_ENGLISH = """
a an the and or but if of at by for with about to from in on into onto than then so as is are was were be been being am do does
did doing has have had having will would can could may might shall should must not no nor this that these those there here it its
he she they them his her their we us our you your i me my mine what which who whom whose when where why how all any each some such
only own same too very just also up down out off because during while since
over under again once s t d ll re ve m someone somebody anyone anybody person
people one please hers ours yours theirs himself herself itself oneself myself yourself yourselves ourselves themselves
"""
_CHINESE = """
的 了 着 过 在 是 有 和 与 或 就 都 而 及 也 又 还 很 这 那 这个 那个 这里 那里 哪 哪里 哪儿 谁 什么 怎么 怎样 为什么 何时 什么时候 时候 吗
呢 吧 啊 呀 么 我 你 他 她 它 我们 你们 他们 她们 某人 有人 一个 人 个 把 被 给 对 从 到 向 于 之 其 中 里 上 下 请 告诉 视频
片段 没有 不 没
"""
STOP = frozenset(_ENGLISH.split())
"""English words that find nothing (the placeholder "someone" among them)."""
STOP_ZH = frozenset(_CHINESE.split())

_lock = threading.Lock()
_jieba: Any = None


def words(text: str) -> list[str]:
    """Return the words of a text in order, folded, stemmed, without stop words; names and numbers stay whole."""
    found: list[str] = []
    for run in _RUN.findall(unicodedata.normalize("NFKC", text)):
        first = run[0]
        if re.match(rf"[{_HAN}]", first):
            found += [w for w in _chinese().lcut_for_search(run) if w.strip() and w not in STOP_ZH]
        elif re.match(rf"[{_OTHER}]", first):
            found += [run[i : i + 2] for i in range(max(1, len(run) - 1))]
        else:
            word = _fold(run)
            if word and word not in STOP:
                found.append(stem(word))
    return found


def _fold(word: str) -> str:
    """Return a word in small letters without accents and without a possessive ("René's" → "rene")."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", word.casefold()) if not unicodedata.combining(c))
    return re.sub(r"['’](?:s|re|ve|ll|d|m|t)$", "", plain).replace("'", "").replace("’", "")


def _chinese() -> Any:
    """Return jieba, loaded on first use; its cache lies in our own folder, since it is read back with `marshal`."""
    global _jieba
    with _lock:
        if _jieba is None:
            import jieba

            jieba.setLogLevel(logging.WARNING)
            tokenizer = jieba.Tokenizer()
            folder = data_dir() / "cache"
            try:
                private.folder(folder)
                tokenizer.tmp_dir = str(folder)
                tokenizer.initialize()
            except OSError:  # without a folder of ours there is no cache; jieba alone would take one from the temporary folder
                tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
                tokenizer.initialized = True
            _jieba = tokenizer
        return _jieba
