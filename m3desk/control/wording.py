"""The texts of answers in English and Chinese, and the question words that search ignores."""

from __future__ import annotations

from m3desk.domain.stemming import stems

_SENTENCES: dict[str, tuple[str, str]] = {
    "absent": ("This is not in this memory.", "这段记忆里没有这个内容。"),
    "absent_words": (
        "This is not in this memory: nothing in it shows or says “{words}”.",
        "这段记忆里没有这个内容：没有出现或提到“{words}”。",
    ),
    "empty": ("There is nothing in this memory yet.", "这段记忆里还没有内容。"),
    "no_clip": ("This is not in this memory. {note}", "这段记忆里没有这个内容。{note}"),
    "nobody_seen": ("Not in this memory{so_far}: nobody's face is seen.", "{so_far}这段记忆里没有看到任何人的脸。"),
    "nobody_heard": ("Not in this memory{so_far}: nobody is heard speaking.", "{so_far}这段记忆里没有听到任何人说话。"),
    "says_nothing": ("Not in this memory{so_far}: {who} is not heard saying anything.", "{so_far}这段记忆里没有听到{who}说话。"),
    "no_text": ("No text on the screen was read in this memory. ", "这段记忆里没有读到屏幕上的文字。"),
    "no_things": ("Not in this memory: no known object was seen.", "这段记忆里没有看到可识别的物体。"),
    "appear": ("{n} people appear{so_far}: ", "{so_far}画面中出现了{n}个人："),
    "appear_one": ("One person appears{so_far}: ", "{so_far}画面中出现了一个人："),
    "speak": ("{n} people speak{so_far}: ", "{so_far}有{n}个人说话："),
    "speak_one": ("One person speaks{so_far}: ", "{so_far}有一个人说话："),
    "only_heard": ("{n} more are heard but not seen: ", "另有{n}人只闻其声："),
    "only_heard_one": ("One more is heard but not seen: ", "另有一人只闻其声："),
    "heard_alone": ("Nobody's face is seen{so_far}; {n} people are heard: ", "{so_far}没有看到人脸；听到{n}个人说话："),
    "heard_alone_one": ("Nobody's face is seen{so_far}; one person is heard: ", "{so_far}没有看到人脸；听到一个人说话："),
    "so_far": (" so far", "到目前为止，"),
    "others": ("{n} others", "另外{n}人"),
    "speaks_first": ("{who} speaks first: “{words}” ", "最先说话的是{who}：“{words}”"),
    "speaks_last": ("{who} speaks last{so_far}: “{words}” ", "{so_far}最后说话的是{who}：“{words}”"),
    "seen_first": ("{who} is seen first. ", "最先出现的是{who}。"),
    "seen_last": ("{who} is seen last{so_far}. ", "{so_far}最后出现的是{who}。"),
    "introduced": ("{who} is introduced as {name}: “{words}” ", "{who}被介绍为{name}：“{words}”"),
    "is_seen": ("{who} is seen {n} times. ", "{who}出现了{n}次。"),
    "is_seen_one": ("{who} is seen once. ", "{who}出现了一次。"),
    "says": ("{who} says: “{words}” ", "{who}说：“{words}”"),
    "somebody": ("Somebody", "有人"),
    "goes_on": ("{who} goes on: “{words}” ", "{who}接着说：“{words}”"),
    "more_said": ("({n} more utterances.) ", "（还有{n}句话。）"),
    "seen_at": ("{who} is seen at ", "{who}出现在"),
    "speaks_at": ("{who} speaks at ", "{who}说话的时间是"),
    "more_times": ("{n} more times", "另外{n}次"),
    "on_screen": ("On the screen one reads ", "屏幕上写着"),
    "more_texts": ("{n} more texts", "另外{n}段文字"),
    "things": ("In view: ", "画面中可以看到："),
    "quoting": ("No language model is here, so this quotes what fits best. ", "这里没有语言模型，以下引用最相关的记忆。"),
    "quoting_instead": ("The language model did not answer, so this quotes what fits best. ", "语言模型没有回答，以下引用最相关的记忆。"),
    "nearest": ("These memories are nearest. ", "以下是最相近的记忆。"),
    "scene": ("In order: ", "按时间顺序："),
}  # fmt: skip

NUMBERS: dict[str, dict[int, str]] = {
    "en": dict(enumerate(("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve"))),
    "zh": {},
}


def say(key: str, language: str, **words: object) -> str:
    """Return an answer text with its values filled in; `so_far` only where what was asked about is not memorized as a whole."""
    return _SENTENCES[key][1 if language == "zh" else 0].format(**{"so_far": "", **words})


GENERIC = stems(
    """say said tell told talk speak spoke spoken speaker mention discuss appear see seen saw show shown happen look view visible scene
    video clip memory thing name named word moment ever anyone anything someone something everyone everything give gave given kind sort
    exact exactly make made have come came go goes went hear heard read film movie record footage describe know known question answer please
    man woman men women guy lady face
    说 说话 讲 讲话 谈 谈到 出现 看到 看见 看 视频 画面 里面 发生 提到 东西 听到 显示 时 话 事 事情 知道 问题 录像 男人 女人 男 女"""
)
"""Stems of question words, which evidence need not contain."""

_ASKING = {
    "who": "list present camera screen there else come came enter together all first last "
    "在场 画面 出现 屏幕 哪些 都 一共 先 最先 最后 第一 第一个 镜头",
    "who_speaks": "voice first last loud whos 先 最先 最后 第一 第一个 声音 开口 发言",
    "who_says": "first last 最先 最后 过 到",
    "count": "many number different unique total altogether distinct voice individual character human 几 几个 多少 一共 总共 不同 共 位 名",
    "says": "first last else exact quote 什么 了 过 先 最后 最先 第一 第一句 句",
    "when": "time timing first last long enter leave left arrive return back point early late soon come came "
    "何时 几点 先 最后 最先 第一次 时间 进入 离开 早",
    "on_screen": "text screen caption subtitle title written write writing display on-screen onscreen "
    "字幕 文字 屏幕 写 写着 字 显示 标题 上面 上写 哪些",
    "objects": "object item around 物品 物体 哪些",
    "summary": "summary summarise summarize overview event main brief briefly general generally story 总结 概括 概述 内容 主要 故事",
}
ASKING: dict[str, frozenset[str]] = {intent: stems(text) for intent, text in _ASKING.items()}
"""By intent, the stems that express it; the remaining words of the question must be in the evidence."""
