"""Names of objects: the 80 COCO classes in English and Chinese, with plurals and lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from m3desk.domain.things import FURNITURE

_ENGLISH_COUNT = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_CHINESE_COUNT = ("零", "一", "两", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二")

_PLURAL = {
    "person": "people",
    "sheep": "sheep",
    "skis": "skis",
    "scissors": "scissors",
    "broccoli": "broccoli",
    "knife": "knives",
    "mouse": "computer mice",
}
_SINGULAR = {
    "skis": "skis",
    "scissors": "a pair of scissors",
    "broccoli": "broccoli",
    "tv": "a screen",
    "mouse": "a computer mouse",
    "remote": "a remote control",
    "hair drier": "a hair dryer",
    "potted plant": "a potted plant",
    "couch": "a couch",
}
_NOUN = {"tv": "screen", "remote": "remote control", "hair drier": "hair dryer", "mouse": "computer mouse"}

# label → (measure word, noun)
_CHINESE = {
    "person": "个人", "bicycle": "辆自行车", "car": "辆汽车", "motorcycle": "辆摩托车", "airplane": "架飞机", "bus": "辆公共汽车",
    "train": "列火车", "truck": "辆卡车", "boat": "艘船", "traffic light": "个红绿灯", "fire hydrant": "个消防栓",
    "stop sign": "个停车标志",
    "parking meter": "个停车计时器", "bench": "张长椅", "bird": "只鸟", "cat": "只猫", "dog": "只狗", "horse": "匹马", "sheep": "只羊",
    "cow": "头牛", "elephant": "头大象", "bear": "头熊", "zebra": "匹斑马", "giraffe": "只长颈鹿", "backpack": "个背包",
    "umbrella": "把雨伞",
    "handbag": "个手提包", "tie": "条领带", "suitcase": "个行李箱", "frisbee": "个飞盘", "skis": "副滑雪板", "snowboard": "块单板滑雪板",
    "sports ball": "个球", "kite": "只风筝", "baseball bat": "根棒球棒", "baseball glove": "只棒球手套", "skateboard": "块滑板",
    "surfboard": "块冲浪板", "tennis racket": "只网球拍", "bottle": "个瓶子", "wine glass": "个酒杯", "cup": "个杯子", "fork": "把叉子",
    "knife": "把刀", "spoon": "把勺子", "bowl": "个碗", "banana": "根香蕉", "apple": "个苹果", "sandwich": "个三明治", "orange": "个橙子",
    "broccoli": "棵西兰花", "carrot": "根胡萝卜", "hot dog": "个热狗", "pizza": "个披萨", "donut": "个甜甜圈", "cake": "个蛋糕",
    "chair": "把椅子", "couch": "张沙发", "potted plant": "盆植物", "bed": "张床", "dining table": "张桌子", "toilet": "个马桶",
    "tv": "台屏幕", "laptop": "台笔记本电脑", "mouse": "个鼠标", "remote": "个遥控器", "keyboard": "个键盘", "cell phone": "部手机",
    "microwave": "台微波炉", "oven": "台烤箱", "toaster": "台烤面包机", "sink": "个水槽", "refrigerator": "台冰箱", "book": "本书",
    "clock": "个钟", "vase": "个花瓶", "scissors": "把剪刀", "teddy bear": "个玩具熊", "hair drier": "个吹风机", "toothbrush": "把牙刷",
}  # fmt: skip

HELD = frozenset({
    "cup", "bottle", "wine glass", "cell phone", "book", "remote", "umbrella", "handbag", "knife", "fork", "spoon", "banana", "apple",
    "sandwich", "orange", "carrot", "hot dog", "pizza", "donut", "cake", "scissors", "toothbrush", "hair drier", "teddy bear",
    "tennis racket",
    "baseball bat", "frisbee", "sports ball", "suitcase", "bowl", "laptop",
})  # fmt: skip
"""What a hand can hold."""


def number(count: int, language: str) -> str:
    """Return a small number as a word, a large one in digits."""
    words = _CHINESE_COUNT if language == "zh" else _ENGLISH_COUNT
    return words[count] if count < len(words) else str(count)


def named(label: str, count: int, language: str) -> str:
    """Return so many of a thing: "a cup", "two cups", "两个杯子". A label outside the table stays as it is."""
    if label == FURNITURE:
        several = "桌椅" if language == "zh" else "chairs or tables"
        return several if count > 1 else "一把椅子或一张桌子" if language == "zh" else "a chair or a table"
    if language == "zh":
        return number(count, "zh") + _CHINESE.get(label, f"个{label}")
    if count == 1:
        noun = _NOUN.get(label, label)
        return _SINGULAR.get(label) or f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
    return f"{number(count, 'en')} {plural(label)}"


def plural(label: str) -> str:
    """Return an English label's plural."""
    if label in _PLURAL:
        return _PLURAL[label]
    noun = _NOUN.get(label, label)
    if noun.endswith(("s", "x", "ch", "sh")):
        return noun + "es"
    return noun + "s"


def listed(parts: Sequence[str], language: str) -> str:
    """Return "a, b and c" or 「a、b和c」."""
    if len(parts) == 1:
        return parts[0]
    comma, last = ("、", "和") if language == "zh" else (", ", " and ")
    return comma.join(parts[:-1]) + last + parts[-1]


def counted(counts: Mapping[str, int], language: str) -> str:
    """Return all things with their numbers in one list, in the order given."""
    return listed([named(label, count, language) for label, count in counts.items()], language)
