"""The texts of answers in English and Chinese, and the question words that search ignores."""

from __future__ import annotations

from m3desk.domain.stemming import stems

_SENTENCES: dict[str, tuple[str, str]] = {
    "over": ("This is not in this memory: it ends at {end}.", "这段记忆里没有这个内容：它到{end}为止。"),
    "absent": ("This is not in this memory.", "这段记忆里没有这个内容。"),
    "absent_words": (
        "This is not in this memory: nothing in it shows or says “{words}”.",
        "这段记忆里没有这个内容：没有出现或提到“{words}”。",
    ),
    "empty": ("There is nothing in this memory yet.", "这段记忆里还没有内容。"),
    "waits": ("From {start} to {end} nothing is memorized yet. ", "从{start}到{end}还没有记住任何内容。"),
    "uneventful": ("Nobody is seen or heard from {start} to {end}{so_far}. ", "{so_far}从{start}到{end}没有看到或听到任何人。"),
    "no_face": (
        "No face is seen and nobody is heard from {start} to {end}{so_far}. ",
        "{so_far}从{start}到{end}没有看到人脸，也没有听到说话。",
    ),
    "faceless": (
        "From {start} to {end}{so_far} people are in view, but no face is recognised and nobody is heard. ",
        "{so_far}从{start}到{end}画面中有人，但没有认出人脸，也没有听到说话。",
    ),
    "no_clip": ("This is not in this memory. {note}", "这段记忆里没有这个内容。{note}"),
    "nobody_seen": ("Not in this memory{so_far}: nobody's face is seen.", "{so_far}这段记忆里没有看到任何人的脸。"),
    "nobody_named": ("Not in this memory: nobody's name is known.", "这段记忆里没有人的名字是已知的。"),
    "nobody_heard": ("Not in this memory{so_far}: nobody is heard speaking.", "{so_far}这段记忆里没有听到任何人说话。"),
    "says_nothing": ("Not in this memory{so_far}: {who} is not heard saying anything.", "{so_far}这段记忆里没有听到{who}说话。"),
    "says_not_that": ("Not in this memory{so_far}: {who} is not heard saying anything of that.", "{so_far}这段记忆里没有听到{who}说这些。"),
    "sexed": ("Who is a man and who is a woman is not known, so this is about everybody.", "不知道谁是男、谁是女，所以包括了所有人。"),
    "no_text": ("No text on the screen was read in this memory. ", "这段记忆里没有读到屏幕上的文字。"),
    "no_things": ("Not in this memory: no known object was seen.", "这段记忆里没有看到可识别的物体。"),
    "appear": ("{n} people appear{so_far}: ", "{so_far}画面中出现了{n}个人："),
    "appear_one": ("One person appears{so_far}: ", "{so_far}画面中出现了一个人："),
    "speak": ("{n} people speak{so_far}: ", "{so_far}有{n}个人说话："),
    "speak_one": ("One person speaks{so_far}: ", "{so_far}有一个人说话："),
    "silent": ("{n} people are seen but not heard speaking{so_far}: ", "{so_far}有{n}个人出现但没有听到说话："),
    "silent_one": ("One person is seen but not heard speaking{so_far}: ", "{so_far}有一个人出现但没有听到说话："),
    "unseen": ("{n} people are heard but not seen{so_far}: ", "{so_far}有{n}个人说话但没有看到脸："),
    "unseen_one": ("One person is heard but not seen{so_far}: ", "{so_far}有一个人说话但没有看到脸："),
    "may_be_theirs": ("{n} voices without a known face may be theirs: ", "另有{n}个声音不知道是谁的，可能就是他们的："),
    "may_be_theirs_one": ("One voice without a known face may be theirs: ", "另有一个声音不知道是谁的，可能就是他们的："),
    "all_heard": ("Everybody who is seen is also heard{so_far}.", "{so_far}出现的人都说了话。"),
    "all_seen": ("Everybody who is heard is also seen{so_far}.", "{so_far}说话的人都出现了。"),
    "never_heard": ("{who}: not heard speaking{so_far}. ", "{so_far}没有听到{who}说话。"),
    "never_seen": ("{who}: not seen{so_far}. ", "{so_far}没有看到{who}。"),
    "not_considered": (
        "Memories tell what happens; what does not happen cannot be found by its words.",
        "记忆只记录发生的事；没有发生的事无法按字词找到。",
    ),
    "only_heard": ("{n} more voices are heard: ", "另外还听到{n}个声音："),
    "only_heard_one": ("One more voice is heard: ", "另外还听到一个声音："),
    "heard_alone": ("Nobody's face is seen{so_far}. {n} people are heard: ", "{so_far}没有看到人脸；听到{n}个人说话："),
    "heard_alone_one": ("Nobody's face is seen{so_far}. One person is heard: ", "{so_far}没有看到人脸；听到一个人说话："),
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
    "unclear": ("(This was not heard clearly.) ", "（这里没有听清楚。）"),
    "somebody": ("Somebody", "有人"),
    "asks": ("{who} asks: “{words}” ", "{who}问：“{words}”"),
    "questions": ("{n} questions are heard{so_far}. ", "{so_far}听到{n}个问题。"),
    "questions_one": ("One question is heard{so_far}. ", "{so_far}听到一个问题。"),
    "no_question": ("Not in this memory{so_far}: {who} is not heard asking a question.", "{so_far}这段记忆里没有听到{who}提问。"),
    "no_question_at_all": ("Not in this memory{so_far}: no question is heard.", "{so_far}这段记忆里没有听到任何提问。"),
    "names_nobody": ("Not in this memory{so_far}: {who} is not heard naming {whom}.", "{so_far}这段记忆里没有听到{who}提到{whom}的名字。"),
    "nobody_names": ("Not in this memory{so_far}: nobody is heard naming {whom}.", "{so_far}这段记忆里没有听到任何人提到{whom}的名字。"),
    "nameless": ("What is about {whom} is not known, for they have no name. ", "{whom}没有名字，所以不清楚哪些话是关于他们的。"),
    "to_whom": ("To whom they speak is not known. ", "不清楚这些话是对谁说的。"),
    "speaks_before": ("Before {whom} ({at}), {who} speaks: “{words}” ", "在{whom}（{at}）之前说话的是{who}：“{words}”"),
    "speaks_after": ("After {whom} ({at}), {who} speaks: “{words}” ", "在{whom}（{at}）之后说话的是{who}：“{words}”"),
    "nobody_speaks_before": ("Nobody is heard before {whom} ({at}). ", "在{whom}（{at}）之前没有听到任何人说话。"),
    "nobody_speaks_after": ("Nobody is heard after {whom} ({at}). ", "在{whom}（{at}）之后没有听到任何人说话。"),
    "seen_before": ("Before {whom} ({at}), {who} comes into view. ", "在{whom}（{at}）之前出现的是{who}。"),
    "seen_after": ("After {whom} ({at}), {who} comes into view. ", "在{whom}（{at}）之后出现的是{who}。"),
    "nobody_seen_before": ("Nobody comes into view before {whom} ({at}). ", "在{whom}（{at}）之前没有人出现。"),
    "nobody_seen_after": ("Nobody comes into view after {whom} ({at}). ", "在{whom}（{at}）之后没有人出现。"),
    "goes_on": ("{who} goes on: “{words}” ", "{who}接着说：“{words}”"),
    "more_said": ("({n} more utterances.) ", "（还有{n}句话。）"),
    "seen_at": ("{who} is seen at ", "{who}出现在"),
    "speaks_at": ("{who} speaks at ", "{who}说话的时间是"),
    "more_times": ("{n} more times", "另外{n}次"),
    "on_screen": ("On the screen one reads ", "屏幕上写着"),
    "more_texts": ("{n} more texts", "另外{n}段文字"),
    "things": ("In view: ", "画面中可以看到："),
    "speaks_next": ("{who} speaks next{so_far}: “{words}” ", "{so_far}接着说话的是{who}：“{words}”"),
    "seen_next": ("{who} comes into view next{so_far}. ", "{so_far}接着出现的是{who}。"),
    "leaving_out": ("{word} leaves out {who}", "{word}不包括{who}"),
    "nobody_else_seen": ("Nobody else is seen{so_far}.", "{so_far}没有看到其他人。"),
    "nobody_else_heard": ("Nobody else is heard{so_far}.", "{so_far}没有听到其他人说话。"),
    "unknown_voice": ("Somebody speaks, but it is not known{so_far} who: “{words}” ", "{so_far}有人说话，但不知道是谁：“{words}”"),
    "nobody_new": ("Not in this memory{so_far}: nobody comes into view later.", "{so_far}这段记忆里之后没有人再出现。"),
    "seen_most": ("Seen longest{so_far}: ", "{so_far}出现时间最长的依次是"),
    "seen_most_one": ("Seen longest{so_far}: ", "{so_far}出现时间最长的是"),
    "heard_most": ("Heard longest{so_far}: ", "{so_far}说话时间最长的依次是"),
    "heard_most_one": ("Heard longest{so_far}: ", "{so_far}说话时间最长的是"),
    "is_seen_for": ("{who} is seen for {time}{so_far}. ", "{so_far}{who}出现了{time}。"),
    "speaks_for": ("{who} speaks for {time}{so_far}. ", "{so_far}{who}说了{time}的话。"),
    "film": ("The film", "影片"),
    "lasts": ("{what} is {time} long{so_far}. ", "{so_far}{what}的长度是{time}。"),
    "time": ("{n} s", "{n}秒"),
    "time_minutes": ("{m} min {n} s", "{m}分{n}秒"),
    "so_long": ("{who} ({time})", "{who}（{time}）"),
    "not_memorized": (" The last {n} seconds are not memorized yet.", "最后{n}秒还没有记录。"),
    "not_memorized_one": (" The last second is not memorized yet.", "最后1秒还没有记录。"),
    "any_surface": ("What a text stands on is not known. ", "不清楚文字写在什么东西上。"),
    "no_kind": ("Not in this memory{so_far}: no {kind} is read on the screen.", "{so_far}这段记忆里没有在屏幕上读到{kind}。"),
    "kind_date": ("date", "日期"),
    "kind_time": ("time of day", "钟点"),
    "kind_price": ("price", "价格"),
    "kind_phone": ("telephone number", "电话号码"),
    "kind_web": ("web address", "网址"),
    "kind_email": ("e-mail address", "邮箱地址"),
    "kind_number": ("number", "数字"),
    "what_happens": ("What happens?", "发生了什么？"),
    "around": ("{word} is read as {start}–{end}.", "{word}按{start}–{end}理解。"),
    "relative_seen": ("{who} is seen", "{who}出现"),
    "relative_heard": ("{who} speaks", "{who}说话"),
    "relative_before": ("Before “{word}” is read as before {at}.", "“{word}之前”指{at}之前。"),
    "relative_after": ("After “{word}” is read as after {at}.", "“{word}之后”指{at}之后。"),
    "relative_unknown": ("When “{word}” is not known, so it limits nothing.", "不知道“{word}”是什么时候，所以不限定时间。"),
    "meant_things": ("{word} is read as {what}", "{word}指{what}"),
    "not_known_whom": ("whom {word} means is not known, so it limits nothing", "不清楚{word}指谁，所以不作限定"),
    "meant": ("{word} is read as {who}", "{word}指{who}"),
    "meant_after": ("{word} is read as after {at}", "{word}指{at}之后"),
    "meant_before": ("{word} is read as before {at}", "{word}指{at}之前"),
    "meant_during": ("{word} is read as at {at}", "{word}指{at}"),
    "nobody_meant": ("no answer before names anybody, so {word} is everybody", "之前的回答没有提到任何人，所以{word}指所有人"),
    "no_moment": ("no answer before cites a moment, so {word} limits nothing", "之前的回答没有提到任何时间，所以{word}不限定时间"),
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
    """say said ask asked tell told talk speak spoke spoken speaker mention discuss appear see seen saw show shown happen look view visible
    scene video clip memory thing name named word moment ever anyone anything someone something everyone everybody everything give gave
    given kind
    sort exact exactly make made have come came go goes went hear heard read film movie record footage describe know known question answer
    please
    man woman men women guy lady face
    说 说话 些 聊 聊天 讲 讲话 谈 谈到 谈论 出现 看到 看见 看 视频 画面 里面 发生 提到 东西 听到 显示 时 话 事 事情 知道 问题 录像 大家
    所有 所有人 男人 女人 男 女"""
)
"""Stems of question words, which evidence need not contain."""

_ASKING = {
    "who": "还是 名字 人有 other 还 别 其他 其他人 别人 list present camera screen there else come came enter together all first last "
    "在场 画面 出现 屏幕 哪些 都 一共 先 最先 最后 第一 第一个 镜头",
    "who_speaks": "还是 else other 还 别 其他 其他人 别人 voice first last loud whos 先 最先 最后 第一 第一个 声音 开口 发言",
    "who_says": "first last 最先 最后 过 到",
    "asks": "first last next many number else there pose raise heard hear have "
    "跟 向 同 问 提问 发问 提 提出 问题 先 最先 最后 第一 第一个 一个 个 几 几个 多少 多少个 哪些 什么 了 过 句",
    "count": "名字 名 many number different unique total altogether distinct voice individual character human "
    "几 几个 多少 一共 总共 不同 共 位",
    "says": "first last else exact quote 跟 向 同 什么 了 过 先 最后 最先 第一 第一句 句",
    "when": "where time many often 几次 多少次 次 多少 timing first last long enter leave left arrive return back "
    "point early late soon come came minute second hour into far video film 第 几 秒 分钟 第几 几秒 几分 几分钟 "
    "何时 几点 先 最后 最先 最早 第一 一次 第一次 时间 进入 离开 早",
    "most": "most longest long often time main principal central leading important chief character figure actor protagonist voice screen "
    "camera loud much more longer than total amount has get 最多 最长 最久 最常 最 多 得 久 长 时间 主角 主人公 主要 人物 角色 出镜 镜头 "
    "次数 声音 发言 中 重要 更 更多 更久 更长 还是 比",
    "how_long": "long much many time second minute hour duration last take length total altogether screen face voice 多久 多长 长 多少 "
    "时间 多长时间 长时间 秒 秒钟 分钟 小时 几 几秒 几分 几分钟 时长 一共 总共 有 是 多 共 声音",
    "on_screen": "text screen caption subtitle title written write writing display on-screen onscreen print "
    "字幕 文字 屏幕 写 写着 字 显示 标题 上面 上写 哪些 印 内容 是 为 几 "
    "date day month year today time clock watch timer price cost much phone telephone number e-mail e mail email address web website site "
    "page url internet 日期 几号 几月 今天 这是 这天 哪 一天 天 哪天 年 哪年 年份 星期 星期几 现在 当时 几点 钟 表 计时器 价格 多少 钱 "
    "多少钱 价 电话 号码 电话号码 手机 手机号 手机号码 机号 邮箱 地址 网址 网站 数字 编号 "
    "sign road street signboard banner board poster label placard billboard notice plaque badge plate headline slide logo "
    "牌子 招牌 标牌 路牌 名牌 车牌 标志牌 标志 牌 指示牌 指示 广告牌 广告 横幅 条幅 标语 海报 黑板 白板 标签 告示",
    "objects": "object item around 物品 物体 哪些",
    "summary": "summary summarise summarize overview event main brief briefly general generally story 总结 概括 概述 内容 主要 故事",
}
ASKING: dict[str, frozenset[str]] = {intent: stems(text) for intent, text in _ASKING.items()}
"""By intent, the stems that express it; the remaining words of the question must be in the evidence."""
