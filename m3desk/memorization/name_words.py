"""Word lists to distinguish names from other capitalised words, in English and Chinese."""

from __future__ import annotations

from m3desk.memorization.lexicon import words_of

PARTICLES = frozenset({"de", "da", "di", "del", "der", "van", "von", "la", "le", "bin", "al", "el", "dos", "du"})

ROLES = words_of("""
    host hosts co-host cohost presenter anchor correspondent reporter journalist editor moderator narrator commentator analyst guest
    interviewer interviewee president vice-president vp senator sen rep representative congressman congresswoman governor gov mayor
    minister secretary ambassador chancellor king queen prince princess judge justice attorney general colonel captain major
    sergeant lieutenant admiral officer sheriff chief chairman chairwoman chair ceo cfo cto coo founder co-founder cofounder
    director producer writer author actor actress singer musician artist composer engineer developer designer manager consultant
    scientist researcher professor prof lecturer teacher student dr doctor nurse surgeon coach player captain mr mrs ms miss mx sir
    dame lord lady rev reverend father sister brother pastor rabbi imam spokesman spokeswoman spokesperson expert specialist
    economist historian lawyer counsel chef farmer driver pilot owner partner speaker member leader head lead principal dean trainer
    instructor witness former deputy assistant senior junior associate democratic republican party your our the a an with and of
    """)
"""Words that say what somebody is or does, stripped from a caption before its name is looked for."""

ROLES_ONLY = words_of("""
    presenter correspondent reporter journalist editor moderator narrator commentator analyst interviewer interviewee president
    vice-president senator representative governor secretary officer chairman chairwoman ceo cfo cto coo founder co-founder cofounder
    director producer actor actress musician engineer developer designer manager consultant scientist researcher professor lecturer
    spokesman spokeswoman spokesperson specialist economist historian instructor assistant
    """)
"""Of these, what is nobody's last name: a line that ends with it says what somebody does ("Software Engineer")."""

NOT_A_NAME = words_of("""
    i we you he she it they this that these those the a an and or but not no yes ok okay so well now here there what who when where
    why how which if then than to from in on at by for of with about into over under up down out off as is are was were be been am
    do does did have has had will would can could should may might must let just very really sure sorry glad happy sad tired ready
    fine good great bad new old big first last next more most all some any each every other another same only also too please thanks
    thank hello hi hey bye welcome goodbye morning afternoon evening night today tomorrow yesterday monday tuesday wednesday
    thursday friday saturday sunday january february march april may june july august september october november december spring
    summer autumn fall winter news live breaking exclusive report update special edition statement speech address remarks press
    briefing conference meeting interview debate show program programme episode part chapter scene act season series video audio
    music film movie trailer clip channel subscribe like share follow click watch listen read learn play pause stop start end open
    close enter exit home menu search help settings file edit view window tools page contents index warning caution danger attention
    notice ignore delete forget remember name names instructions instruction system user password admin assistant previous white
    house congress senate court supreme department agency bureau office committee commission council board union federal national
    international global world united states america american british english french german chinese china japan japanese india
    indian russia russian iran iraq israel europe european africa african asia asian mexico canada canadian england britain france
    germany spain spanish italy italian london paris berlin washington york angeles chicago california texas florida boston beijing
    shanghai tokyo new north south east west central university college school institute academy museum library hospital church
    street road avenue park city county state town village bank group company corporation inc llc ltd co corp gmbh foundation
    association society club team league cup championship olympic games election vote campaign party democrat democrats republican
    republicans conservative liberal labour christian catholic muslim jewish buddhist god lord christmas easter war peace health
    care insurance climate change act law bill policy economy market stock price tax money budget business trade industry energy oil
    gas copyright rights reserved presents production productions studio studios entertainment media network broadcasting radio tv
    television press times post journal weekly daily magazine google facebook twitter youtube instagram microsoft apple amazon
    windows linux place set lay bin red blue green white black brown yellow soon again going gonna trying doing thinking talking
    looking president mr mrs ms dr coming getting making saying wearing sitting standing working living
    person people character face voice node entity equivalence confirmed instruct mom mum mommy mummy dad daddy grandma grandpa honey baby
    darling dear sweetheart guys folks everyone everybody ladies gentlemen madam ma'am sir jesus christ heaven heavens
    """)
"""Capitalised words that are not part of a person's name: dates, places, organisations, headlines, interface words."""

SURNAMES_TOO = words_of("""
    brown white green black gray grey young west north east law price park street church banks may long new day summer winter house hall
    stock post paris london washington lincoln england french german power energy page bush love good best
    """)
"""Of these, what may still be somebody's last name after a first name ("JOHN BROWN")."""

DEMONYM_ENDINGS = ("ish", "ese", "ican", "ian's", "crat", "ist")
"""Endings of what people say they are ("I'm English, American, a Democrat"), not of what they are called."""

ROLES_ZH = (
    "主持人", "特约记者", "记者", "主播", "嘉宾", "教授", "副教授", "博士", "医生", "老师", "院长", "校长", "主任", "总统", "总理",
    "部长", "市长", "省长", "议员",
    "董事长", "总经理", "经理", "导演", "演员", "歌手", "作家", "律师", "专家", "评论员", "发言人", "创始人", "首席执行官", "先生",
    "女士", "同学", "工程师", "教练",
)  # fmt: skip

SURNAMES_ZH = frozenset(
    "王李张刘陈杨黄赵周吴徐孙马胡朱郭何罗高林郑梁谢唐许冯宋韩邓彭曹曾田萧董潘袁蔡蒋余于杜叶程魏苏吕丁任卢姚沈钟姜崔谭陆范汪廖"
    "石金韦贾夏付方邹熊白孟秦邱侯江尹薛闫段雷龙黎史陶贺毛郝顾龚邵万覃武钱戴严莫孔向汤温康施文牛樊葛邢安齐易乔伍庞颜倪庄聂章鲁"
    "岳翟殷詹申欧耿关兰焦俞左柳甘祝包宁尚符舒阮柯纪梅童凌毕单季成裴霍涂苗曲盛冉翁蓝骆路游辛靳管柴蒙鲍华喻祁蒲房滕屈饶牟艾尤阳"
    "时穆农司卓古吉缪简车项连芦麦褚娄窦戚岑景党宫费卜冷晏席卫米柏宗瞿桂全佟应臧闵苟邬边卞姬师和仇栾隋商刁沙荣巫寇桑郎甄丛仲虞"
    "敖巩明佘池查麻苑迟邝"
) | {"欧阳", "司马", "上官", "诸葛", "东方", "夏侯", "皇甫", "尉迟", "公孙", "慕容", "令狐", "司徒", "端木"}  # fmt: skip

WORDS_ZH = (
    "中国", "美国", "英国", "法国", "日本", "今天", "明天", "昨天", "学生", "老师", "大家", "我们", "你们", "他们", "什么", "怎么",
    "为什么", "一个", "这个", "那个",
    "时候", "时间", "非常", "可以", "知道", "觉得", "喜欢", "高兴", "高中", "大学", "公司", "安全", "全部", "和平", "白天", "任何",
    "方便", "成功", "单身", "金属",
    "黄色", "白色", "蓝色", "石头", "牛奶", "文化", "新闻", "北京", "上海", "广州", "江苏", "云南", "温州", "马上", "曾经", "于是",
    "应该", "向来", "时事", "农民",
    "司机", "明星", "师傅", "管理", "游客", "党员", "全国", "时代", "明白", "简单", "路人", "万人", "方法", "成员", "关于", "华人",
    "龙的",
)  # fmt: skip
"""Words that begin with a surname's character, or are never part of a name."""
