"""Word lists to detect contradictions: negations, opposites, values of one kind, and what a person has only one of."""

from __future__ import annotations

import re

from m3desk.memorization.lexicon import words_of

NEGATIONS = frozenset(
    {"not", "no", "never", "without", "nobody", "none", "cannot", "neither", "不", "没", "没有", "从不", "从未", "不会", "不是"}
)

FILLERS = words_of("""
    a an the is are was were be been am do does did has have had of to in on at for with and or that this it its their his her they
    he she who someone also very really always 's 某人 的 了 着 是 在 和 与 一 个 名 位 很 总是 也 都 就 会
    """)
"""Words that carry no statement of their own; the placeholder is one."""

ANTONYMS = (
    ("like", "dislike"), ("like", "hate"), ("love", "hate"), ("supports", "opposes"), ("support", "oppose"), ("always", "never"),
    ("agrees", "disagrees"), ("agree", "disagree"), ("alive", "dead"), ("married", "single"), ("married", "divorced"), ("young", "old"),
    "tall", "short", ("rich", "poor"), ("happy", "sad"), ("friends", "enemies"), ("friend", "enemy"), ("friends", "strangers"),
    "early", "late",
    "open", "closed", ("allergic", "fond"), ("rarely", "often"), ("seldom", "often"), ("calm", "angry"), ("loud", "quiet"), "male",
    "female",
    ("man", "woman"), ("employed", "unemployed"), ("guilty", "innocent"), ("true", "false"), ("left", "right"), ("indoors", "outdoors"),
    "喜欢", "讨厌", ("爱", "恨"), ("支持", "反对"), ("同意", "反对"), ("经常", "很少"), ("高", "矮"),
    ("已婚", "单身"), "已婚", "未婚",
    ("朋友", "敌人"), ("男性", "女性"), ("男人", "女人"), ("室内", "室外"), ("早", "晚"), ("打开", "关闭"), ("年轻", "年老"),
)  # fmt: skip

CLASSES = (
    ("red", "blue", "green", "yellow", "black", "white", "brown", "grey", "gray", "orange", "purple", "pink", "blond", "blonde"),
    (
        "红", "蓝", "绿", "黄", "黑", "白", "棕", "灰", "橙", "紫", "粉", "红色", "蓝色", "绿色", "黄色", "黑色", "白色", "棕色",
        "灰色", "橙色", "紫色", "粉色"
    ),
    ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    ("星期一", "星期二", "星期三", "星期四", "星期五", "星期六", "星期日", "周一", "周二", "周三", "周四", "周五", "周六", "周日"),
    ("morning", "afternoon", "evening", "night"),
    ("早上", "上午", "中午", "下午", "晚上", "夜里"),
    ("一", "二", "两", "三", "四", "五", "六", "七", "八", "九", "十"),
)  # fmt: skip
"""Values of one kind: one of them leaves no room for another in an otherwise equal statement."""

SINGLE_VALUED = (
    re.compile(r"\b(?:lives|live|resides|is based) in (.+)$", re.I),
    re.compile(r"\b(?:was born|comes|is|are|originates) (?:in|from) (.+)$", re.I),
    re.compile(r"\b(?:name is|is called|is named|goes by) (.+)$", re.I),
    re.compile(r"\bis (\d+|[a-z\-]+) years old", re.I),
    re.compile(r"\bis (?:the (?:mother|father|wife|husband|boss)) of (.+)$", re.I),
    re.compile(r"(?:住在|家在)(.+?)[。.]?$"),
    re.compile(r"(?:来自|出生在|出生于)(.+?)[。.]?$"),
    re.compile(r"(?:名字是|名叫|叫做)(.+?)[。.]?$"),
    re.compile(r"(\d+|[一二三四五六七八九十]+)岁"),
)
"""What one has only one of; the group is its value."""
