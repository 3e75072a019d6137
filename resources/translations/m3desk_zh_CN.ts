<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
    <context>
        <name>QFileDialog</name>
        <message>
            <source>&amp;Look in:</source>
            <translation>查找范围(&amp;L)：</translation>
        </message>
        <message>
            <source>Files of &amp;type:</source>
            <translation>文件类型(&amp;T)：</translation>
        </message>
    </context>
    <context>
        <name>QAbstractFileIconProvider</name>
        <message>
            <source>Folder</source>
            <translation>文件夹</translation>
        </message>
    </context>
    <context>
        <name>Actions</name>
        <message>
            <source>Next area of the window</source>
            <translation>窗口的下一个区域</translation>
        </message>
        <message>
            <source>Previous area of the window</source>
            <translation>窗口的上一个区域</translation>
        </message>
        <message>
            <source>The focus goes to the picture, or to the next view</source>
            <translation>焦点移到画面或下一个视图</translation>
        </message>
        <message>
            <source>Teach a person…</source>
            <translation>教会识别某个人…</translation>
        </message>
        <message>
            <source>From photos of a face or recordings of a voice; recognised from then on</source>
            <translation>用人脸照片或语音录音；之后即可识别此人</translation>
        </message>
        <message>
            <source>Face and voice of a person…</source>
            <translation>某个人的人脸与声音…</translation>
        </message>
        <message>
            <source>What joins the selected person's face and voice; separate or join them</source>
            <translation>是什么把选中人物的人脸和声音联系在一起；可以分开或连接它们</translation>
        </message>
        <message>
            <source>Who is kept apart…</source>
            <translation>被区分开的人…</translation>
        </message>
        <message>
            <source>The people whom your corrections keep apart; take one of these back</source>
            <translation>因您的更正而被区分开的人物；可以撤回其中一项</translation>
        </message>
        <message>
            <source>How right is this memory?…</source>
            <translation>这个记忆有多准确？…</translation>
        </message>
        <message>
            <source>Answer 20 pairs, or choose a truth file: how many people are told apart rightly</source>
            <translation>回答 20 组问题，或选择真值文件：看人物区分得有多准确</translation>
        </message>
        <message>
            <source>Pe&amp;ople</source>
            <translation>人物(&amp;O)</translation>
        </message>
        <message>
            <source>Forget a person…</source>
            <translation>遗忘某个人…</translation>
        </message>
        <message>
            <source>The selected person, or one whom you choose; shows first what would be deleted</source>
            <translation>当前选中的人物，或由您选择；会先显示将删除的内容</translation>
        </message>
        <message>
            <source>Bookmark this moment</source>
            <translation>为这一时刻添加书签</translation>
        </message>
        <message>
            <source>The moment that the picture shows, or the span that is chosen on the timeline</source>
            <translation>画面所示的时刻，或时间轴上选定的时段</translation>
        </message>
        <message>
            <source>Bookmark with a note…</source>
            <translation>添加带笔记的书签…</translation>
        </message>
        <message>
            <source>Next bookmark</source>
            <translation>下一个书签</translation>
        </message>
        <message>
            <source>Previous bookmark</source>
            <translation>上一个书签</translation>
        </message>
        <message>
            <source>Bookmarks…</source>
            <translation>书签…</translation>
        </message>
        <message>
            <source>Import a memory…</source>
            <translation>导入记忆…</translation>
        </message>
        <message>
            <source>A .json of M3Desk's export, or a .pkl.gz of M3-Agent; you can also drop it onto the window</source>
            <translation>M3Desk 导出的 .json，或 M3-Agent 的 .pkl.gz；也可以直接拖到窗口里</translation>
        </message>
        <message>
            <source>Problems…</source>
            <translation>问题…</translation>
        </message>
        <message>
            <source>Checks the memory and lists what looks wrong, each with what mends it</source>
            <translation>检查记忆并列出可能有问题的地方及其修正方法</translation>
        </message>
        <message>
            <source>Search everywhere…</source>
            <translation>搜索全部内容…</translation>
        </message>
        <message>
            <source>People, memories, words spoken, bookmarks, clips and actions; or who is in a picture or a recording</source>
            <translation>人物、记忆、说过的话、书签、片段和操作；也可以查找图片或录音中的人</translation>
        </message>
        <message>
            <source>Back</source>
            <translation>后退</translation>
        </message>
        <message>
            <source>To what was selected before; in the graph, to what it showed before</source>
            <translation>回到之前选中的内容；在图谱中则回到之前的显示</translation>
        </message>
        <message>
            <source>Forward</source>
            <translation>前进</translation>
        </message>
        <message>
            <source>Enlarge the picture</source>
            <translation>放大画面</translation>
        </message>
        <message>
            <source>Show more of the picture</source>
            <translation>缩小画面</translation>
        </message>
        <message>
            <source>Show the whole picture</source>
            <translation>显示整个画面</translation>
        </message>
        <message>
            <source>&amp;File</source>
            <translation>文件(&amp;F)</translation>
        </message>
        <message>
            <source>Open a video…</source>
            <translation>打开视频…</translation>
        </message>
        <message>
            <source>Open a memory…</source>
            <translation>打开记忆…</translation>
        </message>
        <message>
            <source>Recent memories</source>
            <translation>最近的记忆</translation>
        </message>
        <message>
            <source>Try the demo</source>
            <translation>试用演示</translation>
        </message>
        <message>
            <source>Add videos to this memory…</source>
            <translation>向此记忆添加视频…</translation>
        </message>
        <message>
            <source>Add a folder…</source>
            <translation>添加文件夹…</translation>
        </message>
        <message>
            <source>Export…</source>
            <translation>导出…</translation>
        </message>
        <message>
            <source>Models…</source>
            <translation>模型…</translation>
        </message>
        <message>
            <source>Settings…</source>
            <translation>设置…</translation>
        </message>
        <message>
            <source>Close the memory</source>
            <translation>关闭记忆</translation>
        </message>
        <message>
            <source>Quit</source>
            <translation>退出</translation>
        </message>
        <message>
            <source>None yet</source>
            <translation>还没有</translation>
        </message>
        <message>
            <source>&amp;Edit</source>
            <translation>编辑(&amp;E)</translation>
        </message>
        <message>
            <source>Undo the last correction</source>
            <translation>撤销上一次更正</translation>
        </message>
        <message>
            <source>History of corrections…</source>
            <translation>更正历史…</translation>
        </message>
        <message>
            <source>Redo</source>
            <translation>重做</translation>
        </message>
        <message>
            <source>Find in memories</source>
            <translation>在记忆中查找</translation>
        </message>
        <message>
            <source>Ask a question</source>
            <translation>提问</translation>
        </message>
        <message>
            <source>&amp;Play</source>
            <translation>播放(&amp;P)</translation>
        </message>
        <message>
            <source>Play or pause</source>
            <translation>播放或暂停</translation>
        </message>
        <message>
            <source>Back 5 seconds</source>
            <translation>后退 5 秒</translation>
        </message>
        <message>
            <source>Forward 5 seconds</source>
            <translation>前进 5 秒</translation>
        </message>
        <message>
            <source>One frame back</source>
            <translation>上一帧</translation>
        </message>
        <message>
            <source>One frame forward</source>
            <translation>下一帧</translation>
        </message>
        <message>
            <source>Slower</source>
            <translation>减速</translation>
        </message>
        <message>
            <source>Faster</source>
            <translation>加速</translation>
        </message>
        <message>
            <source>Mute</source>
            <translation>静音</translation>
        </message>
        <message>
            <source>Show faces</source>
            <translation>显示人脸</translation>
        </message>
        <message>
            <source>Show subtitles</source>
            <translation>显示字幕</translation>
        </message>
        <message>
            <source>&amp;Memorizing</source>
            <translation>记忆(&amp;M)</translation>
        </message>
        <message>
            <source>Pause memorizing</source>
            <translation>暂停记忆</translation>
        </message>
        <message>
            <source>The video plays on; memorizing waits</source>
            <translation>视频继续播放；感知和写入暂停</translation>
        </message>
        <message>
            <source>Retry failed sources</source>
            <translation>重试失败的来源</translation>
        </message>
        <message>
            <source>&amp;View</source>
            <translation>视图(&amp;V)</translation>
        </message>
        <message>
            <source>Layout: Explore</source>
            <translation>布局：探索</translation>
        </message>
        <message>
            <source>Layout: Live</source>
            <translation>布局：实时</translation>
        </message>
        <message>
            <source>Layout: People</source>
            <translation>布局：人物</translation>
        </message>
        <message>
            <source>Reset this layout</source>
            <translation>恢复此布局的原样</translation>
        </message>
        <message>
            <source>Theme</source>
            <translation>主题</translation>
        </message>
        <message>
            <source>Same as the system</source>
            <translation>跟随系统</translation>
        </message>
        <message>
            <source>Light</source>
            <translation>浅色</translation>
        </message>
        <message>
            <source>Dark</source>
            <translation>深色</translation>
        </message>
        <message>
            <source>Language</source>
            <translation>语言</translation>
        </message>
        <message>
            <source>Full screen</source>
            <translation>全屏</translation>
        </message>
        <message>
            <source>&amp;Help</source>
            <translation>帮助(&amp;H)</translation>
        </message>
        <message>
            <source>Actions and shortcuts</source>
            <translation>操作与快捷键</translation>
        </message>
        <message>
            <source>About M3Desk</source>
            <translation>关于 M3Desk</translation>
        </message>
        <message>
            <source>Stop the live source</source>
            <translation>停止实时来源</translation>
        </message>
        <message>
            <source>Start with the last devices</source>
            <translation>用上次的设备开始</translation>
        </message>
        <message>
            <source>Continue recording</source>
            <translation>继续录制</translation>
        </message>
        <message>
            <source>Pause: stop the devices</source>
            <translation>暂停：停止设备</translation>
        </message>
        <message>
            <source>&amp;Live</source>
            <translation>实时(&amp;L)</translation>
        </message>
        <message>
            <source>Use camera and microphone…</source>
            <translation>使用摄像头和麦克风…</translation>
        </message>
        <message>
            <source>Choose and test devices or an address, and what is kept</source>
            <translation>选择并测试设备或地址，以及保留什么</translation>
        </message>
        <message>
            <source>One key starts and stops; the first time it asks for the devices</source>
            <translation>一个键开始和停止；第一次会询问设备</translation>
        </message>
        <message>
            <source>Camera and microphone are closed until you continue</source>
            <translation>摄像头和麦克风关闭，直到您继续</translation>
        </message>
        <message>
            <source>Go to the live edge</source>
            <translation>回到现场</translation>
        </message>
        <message>
            <source>From a moment in the recording back to what happens now</source>
            <translation>从录像中的某一刻回到正在发生的画面</translation>
        </message>
        <message>
            <source>Forget the last 5 minutes…</source>
            <translation>忘记最近 5 分钟…</translation>
        </message>
        <message>
            <source>Shows first what would be deleted</source>
            <translation>会先显示将删除什么</translation>
        </message>
        <message>
            <source>Watch for…</source>
            <translation>留意…</translation>
        </message>
        <message>
            <source>Tell me when a person appears, a word is said or an object is seen</source>
            <translation>当某人出现、某个词被说出或某个物体被看到时通知我</translation>
        </message>
        <message>
            <source>Forget the chosen span…</source>
            <translation>忘记所选时间段…</translation>
        </message>
        <message>
            <source>The span that is selected on the timeline; shows first what would be deleted</source>
            <translation>时间轴上选中的时间段；会先显示将删除什么</translation>
        </message>
        <message>
            <source>Delete old recordings…</source>
            <translation>删除旧录像…</translation>
        </message>
        <message>
            <source>Recordings of live sources older than some hours or days; shows first which</source>
            <translation>早于若干小时或天的实时录像；会先显示是哪些</translation>
        </message>
        <message>
            <source>Play or pause from anywhere</source>
            <translation>随处播放或暂停</translation>
        </message>
        <message>
            <source>A report, subtitles, a table, a graph, who speaks when, or the whole memory</source>
            <translation>报告、字幕、表格、图谱、谁在何时说话，或整个记忆</translation>
        </message>
        <message>
            <source>Export subtitles with names…</source>
            <translation>导出带人名的字幕…</translation>
        </message>
    </context>
    <context>
        <name>ActivityPlot</name>
        <message>
            <source>seen</source>
            <translation>出现</translation>
        </message>
        <message>
            <source>speaks</source>
            <translation>说话</translation>
        </message>
    </context>
    <context>
        <name>ChatView</name>
        <message>
            <source>What does %1 say?</source>
            <translation>%1说了什么？</translation>
        </message>
        <message>
            <source>Ask this memory … (@ names a person)</source>
            <translation>向这份记忆提问…（@ 指定人物）</translation>
        </message>
        <message>
            <source>Question</source>
            <translation>问题</translation>
        </message>
        <message>
            <source>Questions and answers</source>
            <translation>问答</translation>
        </message>
        <message>
            <source>Show earlier questions</source>
            <translation>显示更早的问题</translation>
        </message>
        <message>
            <source>Who appears?</source>
            <translation>谁出现了？</translation>
        </message>
        <message>
            <source>What is talked about?</source>
            <translation>谈到了什么？</translation>
        </message>
        <message>
            <source>What happened in the last minute?</source>
            <translation>最近一分钟发生了什么？</translation>
        </message>
        <message>
            <source>What happens at the end?</source>
            <translation>最后发生了什么？</translation>
        </message>
        <message>
            <source>Ask what happened, who said what, and when. Answers cite the moments that support them.</source>
            <translation>问问发生了什么、谁说了什么、在什么时候。回答会引用所依据的时刻。</translation>
        </message>
        <message>
            <source>Stop</source>
            <translation>停止</translation>
        </message>
        <message>
            <source>Ask</source>
            <translation>提问</translation>
        </message>
        <message>
            <source>Stop this answer</source>
            <translation>停止回答</translation>
        </message>
        <message>
            <source>Ask (Enter)</source>
            <translation>提问（回车）</translation>
        </message>
        <message>
            <source>Only in %1–%2</source>
            <translation>仅限 %1–%2</translation>
        </message>
        <message>
            <source>Ask about the whole memory again</source>
            <translation>重新对整份记忆提问</translation>
        </message>
    </context>
    <context>
        <name>Docks</name>
        <message>
            <source>Views: %1</source>
            <translation>视图：%1</translation>
        </message>
        <message>
            <source>People</source>
            <translation>人物</translation>
        </message>
        <message>
            <source>Sources</source>
            <translation>来源</translation>
        </message>
        <message>
            <source>Timeline</source>
            <translation>时间轴</translation>
        </message>
        <message>
            <source>Memories</source>
            <translation>记忆</translation>
        </message>
        <message>
            <source>Graph</source>
            <translation>图</translation>
        </message>
        <message>
            <source>Transcript</source>
            <translation>文字记录</translation>
        </message>
        <message>
            <source>Chat</source>
            <translation>问答</translation>
        </message>
        <message>
            <source>Inspector</source>
            <translation>检查器</translation>
        </message>
        <message>
            <source>Loading …</source>
            <translation>正在载入…</translation>
        </message>
    </context>
    <context>
        <name>FaceChip</name>
        <message>
            <source>Is %1 the same person as this %2?</source>
            <translation>%1 与此处的 %2 是同一个人吗？</translation>
        </message>
        <message>
            <source>Yes, everything of %1</source>
            <translation>是，%1 的全部</translation>
        </message>
        <message>
            <source>Only these words</source>
            <translation>只有这些话</translation>
        </message>
        <message>
            <source>Only this face</source>
            <translation>只有这张脸</translation>
        </message>
        <message>
            <source>This is… (a name)</source>
            <translation>这是…（名字）</translation>
        </message>
        <message>
            <source>This is…</source>
            <translation>这是…</translation>
        </message>
        <message>
            <source>Say who this is; all memories are updated</source>
            <translation>说明这是谁；所有记忆随之更新</translation>
        </message>
        <message>
            <source>Unknown voice</source>
            <translation>未知的声音</translation>
        </message>
        <message>
            <source>Unknown face</source>
            <translation>未知的脸</translation>
        </message>
        <message>
            <source>Not %1</source>
            <translation>不是%1</translation>
        </message>
        <message>
            <source>Remove this from that person</source>
            <translation>从此人中移出</translation>
        </message>
        <message>
            <source>Not speech</source>
            <translation>不是说话</translation>
        </message>
        <message>
            <source>Not a face</source>
            <translation>不是脸</translation>
        </message>
        <message>
            <source>Set this aside: it was detected by mistake</source>
            <translation>搁置：这是误检</translation>
        </message>
        <message>
            <source>Why</source>
            <translation>为什么</translation>
        </message>
        <message>
            <source>Show the reasons</source>
            <translation>显示其依据</translation>
        </message>
        <message>
            <source>This is already %1.</source>
            <translation>这已经是%1。</translation>
        </message>
    </context>
    <context>
        <name>Faults</name>
        <message>
            <source>The source delivers silence only.</source>
            <translation>此来源只传来静音。</translation>
        </message>
        <message>
            <source>Check whether its sound is switched off.</source>
            <translation>请检查它的声音是否已关闭。</translation>
        </message>
        <message>
            <source>The engine does not answer.</source>
            <translation>引擎没有响应。</translation>
        </message>
        <message>
            <source>What is recorded so far is safe. Recording goes on as soon as the engine is back.</source>
            <translation>已录制的内容是安全的。引擎恢复后会继续录制。</translation>
        </message>
        <message>
            <source>Sound is still recorded.</source>
            <translation>声音仍在录制。</translation>
        </message>
        <message>
            <source>The camera does not answer: it was unplugged, or its stream broke off.</source>
            <translation>摄像头没有响应：它已被拔出，或其视频流中断。</translation>
        </message>
        <message>
            <source>It is used again as soon as it is back.</source>
            <translation>恢复后会自动继续使用。</translation>
        </message>
        <message>
            <source>Another program uses the camera.</source>
            <translation>另一个程序正在使用摄像头。</translation>
        </message>
        <message>
            <source>Close that program; the camera is then used by itself.</source>
            <translation>请关闭该程序；之后会自动使用摄像头。</translation>
        </message>
        <message>
            <source>No new pictures come from the camera.</source>
            <translation>摄像头没有传来新画面。</translation>
        </message>
        <message>
            <source>The connection is made again if it stays like this.</source>
            <translation>如果持续如此，会重新连接。</translation>
        </message>
        <message>
            <source>The picture is still recorded.</source>
            <translation>画面仍在录制。</translation>
        </message>
        <message>
            <source>The microphone does not answer: it was unplugged or switched off.</source>
            <translation>麦克风没有响应：它已被拔出或关闭。</translation>
        </message>
        <message>
            <source>Another program uses the microphone.</source>
            <translation>另一个程序正在使用麦克风。</translation>
        </message>
        <message>
            <source>Close that program; the microphone is then used by itself.</source>
            <translation>请关闭该程序；之后会自动使用麦克风。</translation>
        </message>
        <message>
            <source>The microphone delivers silence only.</source>
            <translation>麦克风只传来静音。</translation>
        </message>
        <message>
            <source>Check whether it is muted, and whether this program may use it.</source>
            <translation>请检查它是否静音，以及本程序是否有权使用它。</translation>
        </message>
        <message>
            <source>No new sound comes from the microphone.</source>
            <translation>麦克风没有传来新的声音。</translation>
        </message>
        <message>
            <source>The disk is nearly full: %1 left.</source>
            <translation>磁盘快满了：还剩 %1。</translation>
        </message>
        <message>
            <source>Recording stops before it is full. Free some space, or forget what is not needed.</source>
            <translation>录制会在磁盘满之前停止。请腾出空间，或忘记不需要的内容。</translation>
        </message>
    </context>
    <context>
        <name>Files</name>
        <message>
            <source>%1 is inside a memory.</source>
            <translation>%1 位于一个记忆中。</translation>
        </message>
        <message>
            <source>The folder %1 belongs to M3Desk. Choose a place outside of it.</source>
            <translation>文件夹 %1 属于 M3Desk。请选择它之外的位置。</translation>
        </message>
        <message>
            <source>Replace %1?</source>
            <translation>替换 %1 吗？</translation>
        </message>
        <message>
            <source>A file with this name exists in %1. Its content will be lost.</source>
            <translation>%1 中已有同名文件，其内容将会丢失。</translation>
        </message>
        <message>
            <source>Replace</source>
            <translation>替换</translation>
        </message>
    </context>
    <context>
        <name>ForgetDialog</name>
        <message>
            <source>bookmarks with their notes: %1</source>
            <translation>书签及其笔记：%1</translation>
        </message>
        <message>
            <source>Forget a span of time</source>
            <translation>忘记一段时间</translation>
        </message>
        <message>
            <source>Forget the last minutes</source>
            <translation>忘记最近几分钟</translation>
        </message>
        <message>
            <source> min</source>
            <translation> 分钟</translation>
        </message>
        <message>
            <source>Minutes to forget</source>
            <translation>要忘记的分钟数</translation>
        </message>
        <message>
            <source>Forget what was recorded and memorized in the last</source>
            <translation>忘记最近录制和记忆的内容：</translation>
        </message>
        <message>
            <source>Forget what was recorded and memorized from %1 to %2?</source>
            <translation>忘记从 %1 到 %2 录制和记忆的内容？</translation>
        </message>
        <message>
            <source>This can't be undone. Afterwards every file of the memory is searched for what is left of it.</source>
            <translation>此操作无法撤销。之后会搜索此记忆的每个文件，确认没有残留。</translation>
        </message>
        <message>
            <source>Forget</source>
            <translation>忘记</translation>
        </message>
        <message>
            <source>Cancel</source>
            <translation>取消</translation>
        </message>
        <message>
            <source>Checking what would be deleted …</source>
            <translation>正在检查将删除什么…</translation>
        </message>
        <message>
            <source>From %1 to %2 this would be deleted:</source>
            <translation>从 %1 到 %2，将删除：</translation>
        </message>
        <message>
            <source>the recording of this time</source>
            <translation>这段时间的录像</translation>
        </message>
        <message>
            <source>faces and utterances: %1</source>
            <translation>人脸和话语：%1</translation>
        </message>
        <message>
            <source>memories: %1</source>
            <translation>记忆：%1</translation>
        </message>
        <message>
            <source>questions whose answer cites this time: %1</source>
            <translation>答案引用了这段时间的问题：%1</translation>
        </message>
        <message>
            <source>people who appear nowhere else: %1</source>
            <translation>只在这里出现的人：%1</translation>
        </message>
        <message>
            <source>Nothing of this time is memorized yet.</source>
            <translation>这段时间还没有记忆。</translation>
        </message>
        <message>
            <source>Forgotten. The search over all files found nothing of it.</source>
            <translation>已忘记。搜索所有文件，没有发现残留。</translation>
        </message>
        <message>
            <source>Not everything could be deleted: %1</source>
            <translation>未能全部删除：%1</translation>
        </message>
    </context>
    <context>
        <name>GraphBar</name>
        <message>
            <source>Back (Alt+Left)</source>
            <translation>后退 (Alt+左)</translation>
        </message>
        <message>
            <source>Forward (Alt+Right)</source>
            <translation>前进 (Alt+右)</translation>
        </message>
        <message>
            <source>Filter by person, weight, video and time</source>
            <translation>按人物、权重、视频和时间筛选</translation>
        </message>
        <message>
            <source>Mini-map (O)</source>
            <translation>小地图 (O)</translation>
        </message>
        <message>
            <source>Earlier states</source>
            <translation>较早的状态</translation>
        </message>
        <message>
            <source>Save what is on show</source>
            <translation>保存当前显示的内容</translation>
        </message>
        <message>
            <source>Clear all filters</source>
            <translation>清除所有筛选</translation>
        </message>
        <message>
            <source>all videos</source>
            <translation>所有视频</translation>
        </message>
        <message>
            <source>Video</source>
            <translation>视频</translation>
        </message>
        <message>
            <source>From</source>
            <translation>从</translation>
        </message>
        <message>
            <source>To</source>
            <translation>到</translation>
        </message>
        <message>
            <source>Find in the graph</source>
            <translation>在图中查找</translation>
        </message>
        <message>
            <source>Show everything, not only the strongest memories</source>
            <translation>显示全部，而不只是最强的记忆</translation>
        </message>
        <message>
            <source>Fit to view (Ctrl+0)</source>
            <translation>适应窗口 (Ctrl+0)</translation>
        </message>
        <message>
            <source>Rearrange (pinned nodes stay)</source>
            <translation>重新排列（固定的节点不动）</translation>
        </message>
        <message>
            <source>Also show as a list</source>
            <translation>同时以列表显示</translation>
        </message>
        <message>
            <source>Only about</source>
            <translation>仅关于</translation>
        </message>
        <message>
            <source>Minimum weight</source>
            <translation>最小权重</translation>
        </message>
        <message>
            <source>everybody</source>
            <translation>所有人</translation>
        </message>
        <message>
            <source>all</source>
            <translation>全部</translation>
        </message>
        <message>
            <source>Find</source>
            <translation>查找</translation>
        </message>
    </context>
    <context>
        <name>GraphCanvas</name>
        <message>
            <source>Memory graph</source>
            <translation>记忆图</translation>
        </message>
    </context>
    <context>
        <name>GraphKinds</name>
        <message>
            <source>Clips</source>
            <translation>片段</translation>
        </message>
        <message>
            <source>Topics</source>
            <translation>主题</translation>
        </message>
        <message>
            <source>Clip</source>
            <translation>片段</translation>
        </message>
        <message>
            <source>Topic</source>
            <translation>主题</translation>
        </message>
        <message>
            <source>People</source>
            <translation>人物</translation>
        </message>
        <message>
            <source>Faces</source>
            <translation>人脸</translation>
        </message>
        <message>
            <source>Voices</source>
            <translation>声音</translation>
        </message>
        <message>
            <source>Events</source>
            <translation>事件</translation>
        </message>
        <message>
            <source>Knowledge</source>
            <translation>知识</translation>
        </message>
        <message>
            <source>Things</source>
            <translation>物品</translation>
        </message>
        <message>
            <source>Places</source>
            <translation>地点</translation>
        </message>
        <message>
            <source>Person</source>
            <translation>人物</translation>
        </message>
        <message>
            <source>Face</source>
            <translation>人脸</translation>
        </message>
        <message>
            <source>Voice</source>
            <translation>声音</translation>
        </message>
        <message>
            <source>Event</source>
            <translation>事件</translation>
        </message>
        <message>
            <source>Thing</source>
            <translation>物品</translation>
        </message>
        <message>
            <source>Place</source>
            <translation>地点</translation>
        </message>
    </context>
    <context>
        <name>GraphView</name>
        <message>
            <source>%1; links: %2</source>
            <translation>%1；连接：%2</translation>
        </message>
        <message>
            <source>Clip %1 · %3</source>
            <translation>片段 %1 · %3</translation>
        </message>
        <message>
            <source>Clips %1–%2 · %3</source>
            <translation>片段 %1–%2 · %3</translation>
        </message>
        <message>
            <source>%1 (video %2)</source>
            <translation>%1（视频 %2）</translation>
        </message>
        <message>
            <source>Graph as a list</source>
            <translation>列表形式的图</translation>
        </message>
        <message>
            <source>People and memories appear here as the video is memorized.</source>
            <translation>随着视频被记忆，人物和记忆会出现在这里。</translation>
        </message>
    </context>
    <context>
        <name>NodeCommands</name>
        <message>
            <source>Merge the selected people… (M)</source>
            <translation>合并所选人物… (M)</translation>
        </message>
        <message>
            <source>Path between the two (T)</source>
            <translation>两者之间的路径 (T)</translation>
        </message>
        <message>
            <source>Select two nodes to see a path between them.</source>
            <translation>选择两个节点以查看它们之间的路径。</translation>
        </message>
        <message>
            <source>Select two or more people to merge.</source>
            <translation>选择两个或更多人物进行合并。</translation>
        </message>
        <message>
            <source>Shift+click people, walk to them with Shift and the arrow keys, or drag a box with Shift held; then press M.</source>
            <translation>按住 Shift 点击人物，按住 Shift 用方向键走到他们，或按住 Shift 拖出一个框；然后按 M。</translation>
        </message>
        <message>
            <source>Shift+click the second one.</source>
            <translation>按住 Shift 点击第二个。</translation>
        </message>
        <message>
            <source>There is no path between these two.</source>
            <translation>这两者之间没有路径。</translation>
        </message>
        <message>
            <source>This is an earlier state: return to now to correct it.</source>
            <translation>这是较早的状态：请返回现在再更正。</translation>
        </message>
        <message>
            <source>Play this moment</source>
            <translation>播放这一刻</translation>
        </message>
        <message>
            <source>Show in the inspector</source>
            <translation>在检查器中显示</translation>
        </message>
        <message>
            <source>Ask about this</source>
            <translation>就此提问</translation>
        </message>
        <message>
            <source>Expand (E)</source>
            <translation>展开 (E)</translation>
        </message>
        <message>
            <source>Collapse (C)</source>
            <translation>折叠 (C)</translation>
        </message>
        <message>
            <source>Unpin (P)</source>
            <translation>松开 (P)</translation>
        </message>
        <message>
            <source>Pin here (P)</source>
            <translation>固定在此 (P)</translation>
        </message>
        <message>
            <source>Only what is linked to %1</source>
            <translation>只看与%1相关联的</translation>
        </message>
        <message>
            <source>Fit to view</source>
            <translation>适应窗口</translation>
        </message>
        <message>
            <source>Reset view</source>
            <translation>恢复初始视图</translation>
        </message>
        <message>
            <source>Unpin all</source>
            <translation>松开所有固定</translation>
        </message>
        <message>
            <source>What is known about %1?</source>
            <translation>关于%1知道些什么？</translation>
        </message>
        <message>
            <source>What led to this: “%1”?</source>
            <translation>是什么导致了：“%1”？</translation>
        </message>
    </context>
    <context>
        <name>Hub</name>
        <message>
            <source>Something went wrong inside M3Desk: %1</source>
            <translation>M3Desk 内部出错：%1</translation>
        </message>
        <message>
            <source>The app keeps running. Copy the report and send it to the developers.</source>
            <translation>应用继续运行。请复制报告并发送给开发者。</translation>
        </message>
    </context>
    <context>
        <name>Inspector</name>
        <message>
            <source>You set it aside on %1</source>
            <translation>您于 %1 将其排除</translation>
        </message>
        <message>
            <source>You decided so on %1</source>
            <translation>您于 %1 这样决定</translation>
        </message>
        <message>
            <source>Joined from</source>
            <translation>合并自</translation>
        </message>
        <message>
            <source>Second best:</source>
            <translation>第二可能：</translation>
        </message>
        <message>
            <source>(%1 less)</source>
            <translation>（低 %1）</translation>
        </message>
        <message>
            <source>Looks like this face</source>
            <translation>与这张脸相似</translation>
        </message>
        <message>
            <source>Sounds like this voice</source>
            <translation>与这个声音相似</translation>
        </message>
        <message>
            <source>Too little to tell by itself; goes with this one of the same moment</source>
            <translation>单凭它难以判断；归入同一时刻的这一个</translation>
        </message>
        <message>
            <source>Id</source>
            <translation>编号</translation>
        </message>
        <message>
            <source>▾ Details</source>
            <translation>▾ 详情</translation>
        </message>
        <message>
            <source>▸ Details</source>
            <translation>▸ 详情</translation>
        </message>
        <message>
            <source>Inspector</source>
            <translation>检查器</translation>
        </message>
        <message>
            <source>Back</source>
            <translation>返回</translation>
        </message>
        <message>
            <source>Play this moment</source>
            <translation>播放这一刻</translation>
        </message>
        <message>
            <source>Listen to the voice</source>
            <translation>听这段声音</translation>
        </message>
        <message>
            <source>Ask about this</source>
            <translation>就此提问</translation>
        </message>
        <message>
            <source>This is no longer in the memory.</source>
            <translation>这已不在记忆中。</translation>
        </message>
        <message>
            <source>Select a person, a memory, a face or a node of the graph to see where it comes from.</source>
            <translation>选择人物、记忆、人脸或图中的节点，查看其来源。</translation>
        </message>
        <message>
            <source>being computed…</source>
            <translation>正在计算…</translation>
        </message>
        <message>
            <source>What led to this: “%1”?</source>
            <translation>是什么导致了：“%1”？</translation>
        </message>
        <message>
            <source>When</source>
            <translation>时间</translation>
        </message>
        <message>
            <source>Who</source>
            <translation>人物</translation>
        </message>
        <message>
            <source>Weight</source>
            <translation>权重</translation>
        </message>
        <message>
            <source>From</source>
            <translation>来自</translation>
        </message>
        <message>
            <source>Clip</source>
            <translation>片段</translation>
        </message>
        <message>
            <source>Written by</source>
            <translation>撰写者</translation>
        </message>
        <message>
            <source>Based on</source>
            <translation>依据</translation>
        </message>
        <message>
            <source>Linked to</source>
            <translation>关联</translation>
        </message>
        <message>
            <source>Also called</source>
            <translation>又名</translation>
        </message>
        <message>
            <source>Seen</source>
            <translation>出现</translation>
        </message>
        <message>
            <source>Speaks</source>
            <translation>说话</translation>
        </message>
        <message>
            <source>Known</source>
            <translation>已知</translation>
        </message>
        <message>
            <source>Topic</source>
            <translation>主题</translation>
        </message>
        <message>
            <source>Confidence</source>
            <translation>置信度</translation>
        </message>
        <message>
            <source>Decided by</source>
            <translation>判定者</translation>
        </message>
        <message>
            <source>Faces</source>
            <translation>人脸</translation>
        </message>
        <message>
            <source>Voices</source>
            <translation>声音</translation>
        </message>
        <message>
            <source>Language</source>
            <translation>语言</translation>
        </message>
        <message>
            <source>Runner-up</source>
            <translation>次优</translation>
        </message>
        <message>
            <source>Memories</source>
            <translation>记忆</translation>
        </message>
        <message>
            <source>In view</source>
            <translation>画面中</translation>
        </message>
        <message>
            <source>On screen</source>
            <translation>屏幕文字</translation>
        </message>
        <message>
            <source>you</source>
            <translation>你</translation>
        </message>
        <message>
            <source>Maybe</source>
            <translation>可能</translation>
        </message>
        <message>
            <source>nobody yet</source>
            <translation>尚无</translation>
        </message>
        <message>
            <source>No longer true since</source>
            <translation>自此不再成立</translation>
        </message>
        <message>
            <source>pinned</source>
            <translation>已固定</translation>
        </message>
        <message>
            <source>Face in the picture</source>
            <translation>画面中的脸</translation>
        </message>
        <message>
            <source>Speech</source>
            <translation>说话</translation>
        </message>
        <message>
            <source>Source</source>
            <translation>来源</translation>
        </message>
        <message>
            <source>Length</source>
            <translation>时长</translation>
        </message>
        <message>
            <source>Picture</source>
            <translation>画面</translation>
        </message>
        <message>
            <source>State</source>
            <translation>状态</translation>
        </message>
        <message>
            <source>Why</source>
            <translation>为什么</translation>
        </message>
        <message>
            <source>Without this one, the result would be somebody else</source>
            <translation>没有这一条，就会是别人</translation>
        </message>
        <message>
            <source>set it aside</source>
            <translation>搁置它</translation>
        </message>
        <message>
            <source>the whole clip</source>
            <translation>整个片段</translation>
        </message>
        <message>
            <source>Together with</source>
            <translation>与之相关的人</translation>
        </message>
    </context>
    <context>
        <name>Legend</name>
        <message>
            <source>Show or hide: %1</source>
            <translation>显示或隐藏：%1</translation>
        </message>
    </context>
    <context>
        <name>Live</name>
        <message>
            <source>objects, text on screen</source>
            <translation>物体、屏幕文字</translation>
        </message>
        <message>
            <source>most pictures, words of subtitles</source>
            <translation>大部分画面、字幕文字</translation>
        </message>
        <message>
            <source>Only silence is heard</source>
            <translation>只听到静音</translation>
        </message>
        <message>
            <source>No news from the engine</source>
            <translation>引擎没有消息</translation>
        </message>
        <message>
            <source>Starting …</source>
            <translation>正在启动…</translation>
        </message>
        <message>
            <source>Pausing: a device is still open</source>
            <translation>正在暂停：仍有设备打开</translation>
        </message>
        <message>
            <source>Stopping …</source>
            <translation>正在停止…</translation>
        </message>
        <message>
            <source>Recording</source>
            <translation>正在录制</translation>
        </message>
        <message>
            <source>Paused: devices are off</source>
            <translation>已暂停：设备已关闭</translation>
        </message>
        <message>
            <source>No device is open</source>
            <translation>没有打开的设备</translation>
        </message>
        <message>
            <source>Camera lost</source>
            <translation>摄像头已断开</translation>
        </message>
        <message>
            <source>Another program uses the camera</source>
            <translation>另一个程序正在使用摄像头</translation>
        </message>
        <message>
            <source>No new pictures</source>
            <translation>没有新画面</translation>
        </message>
        <message>
            <source>Microphone lost</source>
            <translation>麦克风已断开</translation>
        </message>
        <message>
            <source>Another program uses the microphone</source>
            <translation>另一个程序正在使用麦克风</translation>
        </message>
        <message>
            <source>No new sound</source>
            <translation>没有新的声音</translation>
        </message>
        <message>
            <source>%1 skipped</source>
            <translation>跳过 %1</translation>
        </message>
        <message>
            <source>Up to date</source>
            <translation>已跟上</translation>
        </message>
        <message>
            <source>%1 behind</source>
            <translation>落后 %1</translation>
        </message>
        <message>
            <source>knowledge</source>
            <translation>知识</translation>
        </message>
        <message>
            <source>objects and text on screen</source>
            <translation>物体和屏幕文字</translation>
        </message>
        <message>
            <source>, </source>
            <translation>、</translation>
        </message>
        <message>
            <source>left out for now: %1</source>
            <translation>暂时略过：%1</translation>
        </message>
        <message>
            <source>caught up in about %1</source>
            <translation>约 %1 后跟上</translation>
        </message>
        <message>
            <source>%1 of disk left</source>
            <translation>磁盘剩余 %1</translation>
        </message>
        <message>
            <source>half of the pictures</source>
            <translation>一半画面</translation>
        </message>
        <message>
            <source>most pictures</source>
            <translation>大部分画面</translation>
        </message>
    </context>
    <context>
        <name>LiveBar</name>
        <message>
            <source>Live</source>
            <translation>实时</translation>
        </message>
        <message>
            <source>Stop</source>
            <translation>停止</translation>
        </message>
        <message>
            <source>Stop camera and microphone, and memorize the rest (F9)</source>
            <translation>停止摄像头和麦克风，并记忆余下的部分（F9）</translation>
        </message>
        <message>
            <source>Live edge</source>
            <translation>回到现场</translation>
        </message>
        <message>
            <source>Go back to what happens now (F7)</source>
            <translation>回到正在发生的画面（F7）</translation>
        </message>
        <message>
            <source>Forget the last 5 minutes</source>
            <translation>忘记最近 5 分钟</translation>
        </message>
        <message>
            <source>Delete what was recorded and memorized in a span of time; shows first what would be deleted</source>
            <translation>删除一段时间内录制和记忆的内容；会先显示将删除什么</translation>
        </message>
        <message>
            <source>Another span…</source>
            <translation>其他时长…</translation>
        </message>
        <message>
            <source>Watch for…</source>
            <translation>留意…</translation>
        </message>
        <message>
            <source>Tell me when a person appears, a word is said or an object is seen</source>
            <translation>当某人出现、某个词被说出或某个物体被看到时通知我</translation>
        </message>
        <message>
            <source>The last minute</source>
            <translation>最近 1 分钟</translation>
        </message>
        <message>
            <source>The last hour</source>
            <translation>最近 1 小时</translation>
        </message>
        <message>
            <source>The last %1 minutes</source>
            <translation>最近 %1 分钟</translation>
        </message>
        <message>
            <source>Continue</source>
            <translation>继续</translation>
        </message>
        <message>
            <source>Pause</source>
            <translation>暂停</translation>
        </message>
        <message>
            <source>Open the devices again (F8)</source>
            <translation>重新打开设备（F8）</translation>
        </message>
        <message>
            <source>Stop the devices until you continue; nothing is recorded (F8)</source>
            <translation>停止设备，直到您继续；期间不录制（F8）</translation>
        </message>
        <message>
            <source>Show a blurred person</source>
            <translation>显示被模糊的人</translation>
        </message>
        <message>
            <source>Unknown people are blurred; choose one who agreed to be shown and remembered</source>
            <translation>不认识的人会被模糊；选择一位同意被显示和记住的人</translation>
        </message>
        <message>
            <source>Unknown person %1 (from the left)</source>
            <translation>不认识的人 %1（从左数）</translation>
        </message>
        <message>
            <source>No unknown person is in the picture</source>
            <translation>画面中没有不认识的人</translation>
        </message>
    </context>
    <context>
        <name>LiveCanvas</name>
        <message>
            <source>Live picture</source>
            <translation>实时画面</translation>
        </message>
    </context>
    <context>
        <name>LiveStage</name>
        <message>
            <source>Starting …</source>
            <translation>正在启动…</translation>
        </message>
        <message>
            <source>What was recorded is kept, and is memorized to its end.</source>
            <translation>已录制的内容会保留，并记忆到结尾。</translation>
        </message>
        <message>
            <source>The live source ended.</source>
            <translation>实时来源已结束。</translation>
        </message>
        <message>
            <source>The live source ended: %1</source>
            <translation>实时来源已结束：%1</translation>
        </message>
        <message>
            <source>Show</source>
            <translation>显示</translation>
        </message>
        <message>
            <source>Drag on the timeline, then choose this again.</source>
            <translation>请在时间轴上拖动选择，然后再选此项。</translation>
        </message>
        <message>
            <source>No span is chosen.</source>
            <translation>没有选择时间段。</translation>
        </message>
        <message>
            <source>This person is shown and remembered from now on.</source>
            <translation>从现在起会显示并记住此人。</translation>
        </message>
        <message>
            <source>Name…</source>
            <translation>命名…</translation>
        </message>
    </context>
    <context>
        <name>LiveView</name>
        <message>
            <source>Sound only</source>
            <translation>只有声音</translation>
        </message>
        <message>
            <source>Show this person, and remember them</source>
            <translation>显示此人，并记住他们</translation>
        </message>
    </context>
    <context>
        <name>MainWindow</name>
        <message>
            <source>Only %1 is imported. Drop the other files when it is open.</source>
            <translation>只会导入 %1。请在它打开之后再拖入其他文件。</translation>
        </message>
        <message>
            <source>Import a memory (.json of an export, .pkl.gz of M3-Agent)</source>
            <translation>导入记忆（导出的 .json，或 M3-Agent 的 .pkl.gz）</translation>
        </message>
        <message>
            <source>Report</source>
            <translation>报告</translation>
        </message>
        <message>
            <source>Downloading the demo clip …</source>
            <translation>正在下载演示片段…</translation>
        </message>
        <message>
            <source>The demo clip is not installed.</source>
            <translation>演示片段不在这台机器上。</translation>
        </message>
        <message>
            <source>Download it with “m3desk models pull”.</source>
            <translation>用“m3desk models pull”下载。</translation>
        </message>
        <message>
            <source>Open a video</source>
            <translation>打开视频</translation>
        </message>
        <message>
            <source>Memorize more videos</source>
            <translation>记忆更多视频</translation>
        </message>
        <message>
            <source>Memorize the videos of a folder</source>
            <translation>记忆一个文件夹中的视频</translation>
        </message>
        <message>
            <source>Video and sound</source>
            <translation>视频和音频</translation>
        </message>
        <message>
            <source>All files</source>
            <translation>所有文件</translation>
        </message>
        <message>
            <source>Open a memory (a folder whose name ends in .m3desk)</source>
            <translation>打开记忆（名称以 .m3desk 结尾的文件夹）</translation>
        </message>
        <message>
            <source>A memory is a folder NAME.m3desk that holds memory.sqlite.</source>
            <translation>记忆是名为 NAME.m3desk、内含 memory.sqlite 的文件夹。</translation>
        </message>
        <message>
            <source>%1 is not a memory.</source>
            <translation>%1 不是一份记忆。</translation>
        </message>
        <message>
            <source>Export</source>
            <translation>导出</translation>
        </message>
        <message>
            <source>Exported to %1</source>
            <translation>已导出到 %1</translation>
        </message>
        <message>
            <source>About M3Desk</source>
            <translation>关于 M3Desk</translation>
        </message>
        <message>
            <source>Plays videos and builds a memory of them that you can explore, question and correct. Nothing leaves this machine. Apache-2.0.</source>
            <translation>播放视频，同时建立可供浏览、提问和更正的记忆。任何数据都不会离开本机。Apache-2.0。</translation>
        </message>
        <message>
            <source>Restart M3Desk to apply the language everywhere.</source>
            <translation>重新启动 M3Desk 后，语言会在所有地方更改。</translation>
        </message>
        <message>
            <source>This new memory is stored in %1.</source>
            <translation>这个新记忆保存在 %1。</translation>
        </message>
        <message>
            <source>Start page</source>
            <translation>起始页</translation>
        </message>
        <message>
            <source>Subtitles with names</source>
            <translation>带人名的字幕</translation>
        </message>
        <message>
            <source>Subtitles with names for web pages</source>
            <translation>带人名的网页字幕</translation>
        </message>
        <message>
            <source>Table of memories</source>
            <translation>记忆表格</translation>
        </message>
        <message>
            <source>Graph for other programs</source>
            <translation>供其他程序使用的图</translation>
        </message>
        <message>
            <source>Who speaks when</source>
            <translation>谁在何时说话</translation>
        </message>
        <message>
            <source>Whole memory, to import it elsewhere</source>
            <translation>完整记忆，可在别处导入</translation>
        </message>
        <message>
            <source>%1 is empty: no speech is known.</source>
            <translation>%1 是空的：没有已知的讲话。</translation>
        </message>
        <message>
            <source>It holds what is memorized so far.</source>
            <translation>其中只有目前已记忆的内容。</translation>
        </message>
    </context>
    <context>
        <name>MemoryModel</name>
        <message>
            <source>Time</source>
            <translation>时间</translation>
        </message>
        <message>
            <source>Memory</source>
            <translation>记忆</translation>
        </message>
        <message>
            <source>People</source>
            <translation>人物</translation>
        </message>
        <message>
            <source>Kind</source>
            <translation>种类</translation>
        </message>
        <message>
            <source>Weight</source>
            <translation>权重</translation>
        </message>
        <message>
            <source>written by %1</source>
            <translation>由 %1 撰写</translation>
        </message>
        <message>
            <source>no longer true</source>
            <translation>不再成立</translation>
        </message>
    </context>
    <context>
        <name>MemoryView</name>
        <message>
            <source>Filter</source>
            <translation>筛选</translation>
        </message>
        <message>
            <source>Only from %1; show all</source>
            <translation>仅显示 %1；点击显示全部</translation>
        </message>
        <message>
            <source>Write this clip again…</source>
            <translation>重新撰写此片段…</translation>
        </message>
        <message>
            <source>Filter memories</source>
            <translation>筛选记忆</translation>
        </message>
        <message>
            <source>Memories</source>
            <translation>记忆</translation>
        </message>
        <message>
            <source>Kind of memory</source>
            <translation>记忆种类</translation>
        </message>
        <message>
            <source>Person</source>
            <translation>人物</translation>
        </message>
        <message>
            <source>All kinds</source>
            <translation>所有种类</translation>
        </message>
        <message>
            <source>Events</source>
            <translation>事件</translation>
        </message>
        <message>
            <source>Knowledge</source>
            <translation>知识</translation>
        </message>
        <message>
            <source>Everybody</source>
            <translation>所有人</translation>
        </message>
        <message>
            <source>%1 of %2</source>
            <translation>%1 / %2</translation>
        </message>
        <message>
            <source>No memory matches this filter.</source>
            <translation>没有符合筛选条件的记忆。</translation>
        </message>
        <message>
            <source>Nothing is remembered yet. Memories appear as clips are memorized.</source>
            <translation>还没有记忆。随着片段被记忆，记忆会陆续出现。</translation>
        </message>
        <message>
            <source>Play</source>
            <translation>播放</translation>
        </message>
        <message>
            <source>Where does this come from?</source>
            <translation>这条从何而来？</translation>
        </message>
        <message>
            <source>Show in the graph</source>
            <translation>在图中显示</translation>
        </message>
        <message>
            <source>Edit…</source>
            <translation>编辑…</translation>
        </message>
        <message>
            <source>Unpin</source>
            <translation>取消固定</translation>
        </message>
        <message>
            <source>Pin</source>
            <translation>固定</translation>
        </message>
        <message>
            <source>Delete</source>
            <translation>删除</translation>
        </message>
        <message>
            <source>Edit memory</source>
            <translation>编辑记忆</translation>
        </message>
        <message>
            <source>What should it say?</source>
            <translation>应该写成什么？</translation>
        </message>
    </context>
    <context>
        <name>Meter</name>
        <message>
            <source>Sound level</source>
            <translation>音量</translation>
        </message>
        <message>
            <source>no sound</source>
            <translation>没有声音</translation>
        </message>
        <message>
            <source>%1 dB</source>
            <translation>%1 分贝</translation>
        </message>
        <message>
            <source>Sound level: %1</source>
            <translation>音量：%1</translation>
        </message>
    </context>
    <context>
        <name>ModelRow</name>
        <message>
            <source>not verified by us</source>
            <translation>未经我们验证</translation>
        </message>
        <message>
            <source>Thresholds measured by you: %1 people, %2 files, %3</source>
            <translation>其阈值由您测定：%1 人，%2 个文件，%3</translation>
        </message>
        <message>
            <source>Check</source>
            <translation>校验</translation>
        </message>
        <message>
            <source>Compare the files with their checksums</source>
            <translation>将文件与校验和比较</translation>
        </message>
        <message>
            <source>downloading …</source>
            <translation>正在下载…</translation>
        </message>
        <message>
            <source>failed</source>
            <translation>失败</translation>
        </message>
        <message>
            <source>not installed</source>
            <translation>不在本机</translation>
        </message>
        <message>
            <source>partly downloaded</source>
            <translation>已部分下载</translation>
        </message>
        <message>
            <source>damaged</source>
            <translation>已损坏</translation>
        </message>
        <message>
            <source>comes with the app</source>
            <translation>随程序附带</translation>
        </message>
        <message>
            <source>ready</source>
            <translation>就绪</translation>
        </message>
        <message>
            <source>Download again</source>
            <translation>重新下载</translation>
        </message>
        <message>
            <source>Download</source>
            <translation>下载</translation>
        </message>
        <message>
            <source>Remove</source>
            <translation>移除</translation>
        </message>
    </context>
    <context>
        <name>ModelsDialog</name>
        <message>
            <source>another model that recognises faces (optional, for research only)</source>
            <translation>另一个识别人脸的模型（可选，仅限研究）</translation>
        </message>
        <message>
            <source>another model that recognises voices (optional)</source>
            <translation>另一个识别声音的模型（可选）</translation>
        </message>
        <message>
            <source>%1 has terms that you must accept.</source>
            <translation>%1 的使用条款需要您接受。</translation>
        </message>
        <message>
            <source>Terms</source>
            <translation>使用条款</translation>
        </message>
        <message>
            <source>Accept and download</source>
            <translation>接受并下载</translation>
        </message>
        <message>
            <source>finds faces</source>
            <translation>查找人脸</translation>
        </message>
        <message>
            <source>recognises faces</source>
            <translation>识别人脸</translation>
        </message>
        <message>
            <source>detects speech</source>
            <translation>检测语音</translation>
        </message>
        <message>
            <source>recognises voices</source>
            <translation>识别声音</translation>
        </message>
        <message>
            <source>detects overlapping speech</source>
            <translation>检测重叠语音</translation>
        </message>
        <message>
            <source>another model that recognises faces (optional)</source>
            <translation>另一个识别人脸的模型（可选）</translation>
        </message>
        <message>
            <source>transcribes speech</source>
            <translation>转写语音</translation>
        </message>
        <message>
            <source>detects objects</source>
            <translation>检测物体</translation>
        </message>
        <message>
            <source>reads text on the screen</source>
            <translation>读取屏幕上的文字</translation>
        </message>
        <message>
            <source>finds memories by meaning</source>
            <translation>按含义查找记忆</translation>
        </message>
        <message>
            <source>sees clips and tells what happens in them (optional)</source>
            <translation>观看片段并讲述其中发生的事（可选）</translation>
        </message>
        <message>
            <source>sees and hears clips and tells what happens in them (optional)</source>
            <translation>观看并聆听片段，讲述其中发生的事（可选）</translation>
        </message>
        <message>
            <source>a larger model that answers in its own words (optional)</source>
            <translation>用自己的话回答的更大模型（可选）</translation>
        </message>
        <message>
            <source>writes knowledge and answers in its own words</source>
            <translation>写出知识，并用自己的话回答</translation>
        </message>
        <message>
            <source>the demo clip, public domain</source>
            <translation>演示片段，公有领域</translation>
        </message>
        <message>
            <source>Models</source>
            <translation>模型</translation>
        </message>
        <message>
            <source>All models run on this machine. They are downloaded only when you ask for them, and verified afterwards.</source>
            <translation>所有模型都在本机运行。仅在您要求时才下载，下载后会校验。</translation>
        </message>
        <message>
            <source>Checking …</source>
            <translation>正在查看…</translation>
        </message>
        <message>
            <source>Download missing models</source>
            <translation>下载缺少的模型</translation>
        </message>
        <message>
            <source>Close</source>
            <translation>关闭</translation>
        </message>
        <message>
            <source>%1 on this machine</source>
            <translation>本机占用 %1</translation>
        </message>
        <message>
            <source>Answers in its own words, and general knowledge in addition to events</source>
            <translation>用自己的话回答，并在事件之外写下知识</translation>
        </message>
        <message>
            <source>The language model %1 (%2, %3) does this on this machine. Without it, answers quote the best matching memories.</source>
            <translation>语言模型 %1（%2，%3）在本机完成这些工作。没有它时，回答会引用最相关的记忆。</translation>
        </message>
        <message>
            <source>Download %1</source>
            <translation>下载 %1</translation>
        </message>
        <message>
            <source>%1 could not be downloaded.</source>
            <translation>无法下载 %1。</translation>
        </message>
        <message>
            <source>Checking %1 …</source>
            <translation>正在校验 %1…</translation>
        </message>
        <message>
            <source>%1 is complete and undamaged.</source>
            <translation>%1 完整无损。</translation>
        </message>
        <message>
            <source>Remove model</source>
            <translation>移除模型</translation>
        </message>
        <message>
            <source>Remove %1 from this machine?</source>
            <translation>从这台机器移除 %1？</translation>
        </message>
        <message>
            <source>It can be downloaded again. Memories are not changed.</source>
            <translation>可以重新下载。记忆保持不变。</translation>
        </message>
        <message>
            <source>Remove</source>
            <translation>移除</translation>
        </message>
        <message>
            <source>Download</source>
            <translation>下载</translation>
        </message>
    </context>
    <context>
        <name>NoticeBar</name>
        <message>
            <source>%1 more</source>
            <translation>另有 %1 条</translation>
        </message>
        <message>
            <source>Further notices wait; close this one to see the next</source>
            <translation>还有其他通知；关闭这一条可查看下一条</translation>
        </message>
        <message>
            <source>Notices</source>
            <translation>通知</translation>
        </message>
        <message>
            <source>Copy report</source>
            <translation>复制报告</translation>
        </message>
        <message>
            <source>Copy the details of this error, to send them to the developers</source>
            <translation>复制此错误的详情，以便发送给开发者</translation>
        </message>
        <message>
            <source>Close this notice</source>
            <translation>关闭此通知</translation>
        </message>
        <message>
            <source>Undo</source>
            <translation>撤销</translation>
        </message>
        <message>
            <source>Everything saved so far is safe. Close the memory and open it again to continue.</source>
            <translation>已提交的内容是安全的。请关闭并重新打开记忆以继续。</translation>
        </message>
        <message>
            <source>Copied</source>
            <translation>已复制</translation>
        </message>
    </context>
    <context>
        <name>PeopleModel</name>
        <message>
            <source>Maybe %1: “%2”</source>
            <translation>可能是%1：“%2”</translation>
        </message>
        <message>
            <source>seen %1</source>
            <translation>出现 %1</translation>
        </message>
        <message>
            <source>speaks %1</source>
            <translation>说话 %1</translation>
        </message>
        <message>
            <source>not seen or heard yet</source>
            <translation>暂无时长</translation>
        </message>
    </context>
    <context>
        <name>PeopleView</name>
        <message>
            <source>Merge %1 (M)</source>
            <translation>合并 %1 人（M）</translation>
        </message>
        <message>
            <source>The selected people are one person</source>
            <translation>选中的这些是同一个人</translation>
        </message>
        <message>
            <source>Show faces in a grid</source>
            <translation>以网格显示人脸</translation>
        </message>
        <message>
            <source>Several people: separate…</source>
            <translation>是几个人：拆分…</translation>
        </message>
        <message>
            <source>Reading the memory …</source>
            <translation>正在读取记忆……</translation>
        </message>
        <message>
            <source>Who is the same person as %1?</source>
            <translation>谁与 %1 是同一个人？</translation>
        </message>
        <message>
            <source>Same person as…</source>
            <translation>与……是同一个人</translation>
        </message>
        <message>
            <source>Filter people</source>
            <translation>筛选人物</translation>
        </message>
        <message>
            <source>People</source>
            <translation>人物</translation>
        </message>
        <message>
            <source>Undo the last correction</source>
            <translation>撤销上一次更正</translation>
        </message>
        <message>
            <source>Redo</source>
            <translation>重做</translation>
        </message>
        <message>
            <source>No people yet. They appear here as soon as a face or voice is recognised.</source>
            <translation>还没有人。一旦识别出人脸或声音，人物就会出现在这里。</translation>
        </message>
        <message>
            <source>Nobody here is called “%1”.</source>
            <translation>这里没有人叫“%1”。</translation>
        </message>
        <message>
            <source>1 question</source>
            <translation>1 个问题</translation>
        </message>
        <message>
            <source>%1 questions</source>
            <translation>%1 个问题</translation>
        </message>
        <message>
            <source>Answer questions about people that the memory is unsure of</source>
            <translation>回答记忆拿不准的问题</translation>
        </message>
        <message>
            <source>Open page</source>
            <translation>打开页面</translation>
        </message>
        <message>
            <source>Play first moment</source>
            <translation>播放首次出现</translation>
        </message>
        <message>
            <source>Rename…</source>
            <translation>重命名…</translation>
        </message>
        <message>
            <source>This is %1</source>
            <translation>这是%1</translation>
        </message>
        <message>
            <source>Ask about %1</source>
            <translation>询问%1</translation>
        </message>
        <message>
            <source>Remove the name</source>
            <translation>去掉名字</translation>
        </message>
        <message>
            <source>Hide person</source>
            <translation>隐藏人物</translation>
        </message>
        <message>
            <source>Show person again</source>
            <translation>重新显示人物</translation>
        </message>
        <message>
            <source>Same person</source>
            <translation>同一人</translation>
        </message>
        <message>
            <source>Filter</source>
            <translation>筛选</translation>
        </message>
    </context>
    <context>
        <name>PersonDelegate</name>
        <message>
            <source>Yes</source>
            <translation>是</translation>
        </message>
        <message>
            <source>hidden</source>
            <translation>已隐藏</translation>
        </message>
        <message>
            <source>Name</source>
            <translation>名字</translation>
        </message>
    </context>
    <context>
        <name>PersonPage</name>
        <message>
            <source>More about this person</source>
            <translation>更多操作</translation>
        </message>
        <message>
            <source>With (%1)</source>
            <translation>与谁（%1）</translation>
        </message>
        <message>
            <source>joined from %1 people</source>
            <translation>由 %1 个人物合并</translation>
        </message>
        <message>
            <source>Several people? Separate them (or split off the selected faces)</source>
            <translation>是几个人？拆分（或分出选中的人脸）</translation>
        </message>
        <message>
            <source>Parts of the page</source>
            <translation>页面的各部分</translation>
        </message>
        <message>
            <source>Back to all people</source>
            <translation>返回所有人物</translation>
        </message>
        <message>
            <source>Play the first moment</source>
            <translation>播放首次出现</translation>
        </message>
        <message>
            <source>Ask about this person</source>
            <translation>询问此人</translation>
        </message>
        <message>
            <source>Show in the graph</source>
            <translation>在图中显示</translation>
        </message>
        <message>
            <source>Same person as…</source>
            <translation>与他人是同一人…</translation>
        </message>
        <message>
            <source>Name</source>
            <translation>名字</translation>
        </message>
        <message>
            <source>Who is this?</source>
            <translation>这是谁？</translation>
        </message>
        <message>
            <source>Person %1</source>
            <translation>人物 %1</translation>
        </message>
        <message>
            <source>seen for %1</source>
            <translation>出现 %1</translation>
        </message>
        <message>
            <source>speaks for %1</source>
            <translation>说话 %1</translation>
        </message>
        <message>
            <source>in 1 clip</source>
            <translation>在 1 个片段中</translation>
        </message>
        <message>
            <source>in %1 clips</source>
            <translation>在 %1 个片段中</translation>
        </message>
        <message>
            <source>also %1</source>
            <translation>又名%1</translation>
        </message>
        <message>
            <source>Knowledge (%1)</source>
            <translation>知识 (%1)</translation>
        </message>
        <message>
            <source>Moments (%1)</source>
            <translation>时刻 (%1)</translation>
        </message>
        <message>
            <source>Faces (%1)</source>
            <translation>人脸 (%1)</translation>
        </message>
        <message>
            <source>Speech (%1)</source>
            <translation>说话 (%1)</translation>
        </message>
        <message>
            <source>heard or read</source>
            <translation>听到或读到</translation>
        </message>
        <message>
            <source>Yes</source>
            <translation>是</translation>
        </message>
        <message>
            <source>No</source>
            <translation>否</translation>
        </message>
        <message>
            <source>Events</source>
            <translation>事件</translation>
        </message>
        <message>
            <source>… and %1 more in the memories table</source>
            <translation>……记忆表中还有 %1 条</translation>
        </message>
        <message>
            <source>Nothing is known yet.</source>
            <translation>还一无所知。</translation>
        </message>
        <message>
            <source>no longer true</source>
            <translation>不再成立</translation>
        </message>
        <message>
            <source>Play %1</source>
            <translation>播放 %1</translation>
        </message>
        <message>
            <source>(speech not understood)</source>
            <translation>（听不清内容）</translation>
        </message>
        <message>
            <source>not %1</source>
            <translation>不是 %1</translation>
        </message>
        <message>
            <source>not speech</source>
            <translation>不是说话</translation>
        </message>
        <message>
            <source>why</source>
            <translation>为什么</translation>
        </message>
        <message>
            <source>Never heard speaking.</source>
            <translation>从未听到其说话。</translation>
        </message>
        <message>
            <source>Play</source>
            <translation>播放</translation>
        </message>
        <message>
            <source>Show in the inspector</source>
            <translation>在检查器中显示</translation>
        </message>
        <message>
            <source>Not %1</source>
            <translation>不是%1</translation>
        </message>
        <message>
            <source>This is…</source>
            <translation>这是……</translation>
        </message>
        <message>
            <source>Not a face</source>
            <translation>不是脸</translation>
        </message>
        <message>
            <source>Two people: split off the selected ones</source>
            <translation>是两个人：这些是另一个人</translation>
        </message>
        <message>
            <source>Why %1?</source>
            <translation>为什么是 %1？</translation>
        </message>
        <message>
            <source>What is known about %1?</source>
            <translation>关于%1知道些什么？</translation>
        </message>
        <message>
            <source>Consent</source>
            <translation>同意</translation>
        </message>
        <message>
            <source>Knowledge</source>
            <translation>知识</translation>
        </message>
        <message>
            <source>Moments</source>
            <translation>时刻</translation>
        </message>
        <message>
            <source>Faces</source>
            <translation>人脸</translation>
        </message>
        <message>
            <source>Speech</source>
            <translation>说话</translation>
        </message>
        <message>
            <source>Name of %1</source>
            <translation>%1的名字</translation>
        </message>
        <message>
            <source>Note on consent</source>
            <translation>同意备注</translation>
        </message>
        <message>
            <source>What this person agreed to, and when, for your own records; removed when the person is forgotten</source>
            <translation>此人同意了什么、何时同意；仅供您自己记录，遗忘此人时会一并删除</translation>
        </message>
    </context>
    <context>
        <name>PictureCanvas</name>
        <message>
            <source>%1 × · 0 shows the whole picture</source>
            <translation>%1 倍 · 按 0 显示整个画面</translation>
        </message>
        <message>
            <source>Video</source>
            <translation>视频</translation>
        </message>
        <message>
            <source>A face, not yet recognised</source>
            <translation>一张脸，尚未识别</translation>
        </message>
    </context>
    <context>
        <name>QuestionCard</name>
        <message>
            <source>The name is from a text on screen at %1: “%2”</source>
            <translation>名字来自 %1 屏幕上的文字：“%2”</translation>
        </message>
        <message>
            <source>The name was heard at %1, from %3: “%2”</source>
            <translation>名字是在 %1 听到的，由%3说出：“%2”</translation>
        </message>
        <message>
            <source>The name was heard at %1: “%2”</source>
            <translation>名字是在 %1 听到的：“%2”</translation>
        </message>
        <message>
            <source>The name is from these words: “%2”</source>
            <translation>名字来自这些话：“%2”</translation>
        </message>
        <message>
            <source>More than two? Separate them by hand…</source>
            <translation>不止两人？手动拆分…</translation>
        </message>
        <message>
            <source>Is %1 two people?</source>
            <translation>%1 是两个人吗？</translation>
        </message>
        <message>
            <source>%1 in a sentence is the face or voice that it stands beside.</source>
            <translation>句子中的 %1 指旁边的人脸或声音。</translation>
        </message>
        <message>
            <source>Yes</source>
            <translation>是</translation>
        </message>
        <message>
            <source>No</source>
            <translation>否</translation>
        </message>
        <message>
            <source>Don't know</source>
            <translation>不知道</translation>
        </message>
        <message>
            <source>Later</source>
            <translation>以后</translation>
        </message>
        <message>
            <source>Play this moment</source>
            <translation>播放这一刻</translation>
        </message>
        <message>
            <source>First side</source>
            <translation>第一组</translation>
        </message>
        <message>
            <source>Second side</source>
            <translation>第二组</translation>
        </message>
        <message>
            <source>Yes: %1</source>
            <translation>是：%1</translation>
        </message>
        <message>
            <source>Somebody else</source>
            <translation>另一个人</translation>
        </message>
        <message>
            <source> and %1 more</source>
            <translation>，另有 %1 个</translation>
        </message>
        <message>
            <source>Are %1 and %2 the same person?</source>
            <translation>%1 和 %2 是同一个人吗？</translation>
        </message>
        <message>
            <source>Does %1 look like two people?</source>
            <translation>%1 看起来像两个人吗？</translation>
        </message>
        <message>
            <source>Is %1 two people, by the voice?</source>
            <translation>从声音看，%1 是两个人吗？</translation>
        </message>
        <message>
            <source>Does this voice belong to this face?</source>
            <translation>这个声音属于这张脸吗？</translation>
        </message>
        <message>
            <source>Is this %1?</source>
            <translation>这是 %1 吗？</translation>
        </message>
        <message>
            <source>Drag an item that is on the wrong side, double-click it, or press Space.</source>
            <translation>把放错的拖到另一边，或双击，或按空格键。</translation>
        </message>
        <message>
            <source>Click items that show somebody else, or press Space, to leave them out of the answer.</source>
            <translation>点击不是此人的，或按空格键：它不计入回答。</translation>
        </message>
        <message>
            <source>Question</source>
            <translation>问题</translation>
        </message>
    </context>
    <context>
        <name>QuestionsView</name>
        <message>
            <source>Back to all people</source>
            <translation>返回所有人</translation>
        </message>
        <message>
            <source>No open questions. New ones appear when the memory is unsure who somebody is.</source>
            <translation>没有待回答的问题。片段有疑问时会出现新的。</translation>
        </message>
        <message>
            <source>Ask them now</source>
            <translation>现在提问</translation>
        </message>
        <message>
            <source>Questions put off for later: %1</source>
            <translation>推迟到以后的问题：%1</translation>
        </message>
        <message>
            <source>1 question</source>
            <translation>1 个问题</translation>
        </message>
        <message>
            <source>%1 questions</source>
            <translation>%1 个问题</translation>
        </message>
    </context>
    <context>
        <name>RetentionDialog</name>
        <message>
            <source>Delete old recordings</source>
            <translation>删除旧录像</translation>
        </message>
        <message>
            <source>Only recordings of live sources are deleted. What is memorized of them stays; your own files are never touched.</source>
            <translation>只删除实时来源的录像。已记忆的内容会保留；绝不会动您自己的文件。</translation>
        </message>
        <message>
            <source>Which recordings</source>
            <translation>哪些录像</translation>
        </message>
        <message>
            <source>kept longer than was chosen for each</source>
            <translation>超过各自选定的保留时间</translation>
        </message>
        <message>
            <source>older than so many hours</source>
            <translation>早于若干小时</translation>
        </message>
        <message>
            <source>older than so many days</source>
            <translation>早于若干天</translation>
        </message>
        <message>
            <source>Age</source>
            <translation>时间</translation>
        </message>
        <message>
            <source>What would be deleted</source>
            <translation>将删除的内容</translation>
        </message>
        <message>
            <source>Delete</source>
            <translation>删除</translation>
        </message>
        <message>
            <source>Cancel</source>
            <translation>取消</translation>
        </message>
        <message>
            <source>Checking what would be deleted …</source>
            <translation>正在检查将删除什么…</translation>
        </message>
        <message>
            <source>Nothing would be deleted.</source>
            <translation>没有可删除的内容。</translation>
        </message>
        <message>
            <source>This would be deleted, and gives %1 of room:</source>
            <translation>将删除以下内容，腾出 %1：</translation>
        </message>
        <message>
            <source>Deleted old recordings: %1.</source>
            <translation>已删除旧录像：%1。</translation>
        </message>
    </context>
    <context>
        <name>Round</name>
        <message>
            <source>1 memory</source>
            <translation>1 条记忆</translation>
        </message>
        <message>
            <source>%1 memories</source>
            <translation>%1 条记忆</translation>
        </message>
        <message>
            <source>searched “%1” → %2</source>
            <translation>搜索“%1” → %2</translation>
        </message>
        <message>
            <source>wrote the answer</source>
            <translation>写出了回答</translation>
        </message>
    </context>
    <context>
        <name>SettingsDialog</name>
        <message>
            <source>laptop-vision: a small model sees clips, on the processor</source>
            <translation>laptop-vision：小模型看片段，用处理器</translation>
        </message>
        <message>
            <source>gpu-8: small models on a graphics card of 8 GB</source>
            <translation>gpu-8：小模型，8 GB 显卡</translation>
        </message>
        <message>
            <source>gpu-24: M3-Agent's model watches, on a card of 24 GB</source>
            <translation>gpu-24：M3-Agent 的模型看片段，24 GB 显卡</translation>
        </message>
        <message>
            <source>gpu-48: both of M3-Agent's models, on a card of 48 GB</source>
            <translation>gpu-48：M3-Agent 的两个模型，48 GB 显卡</translation>
        </message>
        <message>
            <source>gpu-80: both of M3-Agent's models, in 8 bit, on a card of 80 GB</source>
            <translation>gpu-80：M3-Agent 的两个模型（8 位），80 GB 显卡</translation>
        </message>
        <message>
            <source>Model server</source>
            <translation>模型服务器</translation>
        </message>
        <message>
            <source>Type the address of a model server.</source>
            <translation>请输入模型服务器的地址。</translation>
        </message>
        <message>
            <source>Writer of memories</source>
            <translation>记忆的撰写者</translation>
        </message>
        <message>
            <source>Rules, or a model that watches the clips.</source>
            <translation>规则，或观看片段的模型。</translation>
        </message>
        <message>
            <source>Rules, without a model</source>
            <translation>规则（不用模型）</translation>
        </message>
        <message>
            <source>Questions and knowledge by a model server</source>
            <translation>由模型服务器回答问题并写知识</translation>
        </message>
        <message>
            <source>Language of the app</source>
            <translation>界面语言</translation>
        </message>
        <message>
            <source>Theme</source>
            <translation>外观</translation>
        </message>
        <message>
            <source>Language of memories</source>
            <translation>记忆的语言</translation>
        </message>
        <message>
            <source>Model profile</source>
            <translation>模型配置</translation>
        </message>
        <message>
            <source>Length of a clip</source>
            <translation>片段长度</translation>
        </message>
        <message>
            <source>Pictures analysed</source>
            <translation>分析的画面</translation>
        </message>
        <message>
            <source>Threads</source>
            <translation>线程</translation>
        </message>
        <message>
            <source>Knowledge</source>
            <translation>知识</translation>
        </message>
        <message>
            <source>Applies to memories written from now on.</source>
            <translation>适用于今后写下的记忆。</translation>
        </message>
        <message>
            <source>You can define your own profiles in the settings file.</source>
            <translation>您自己的配置写在设置文件中。</translation>
        </message>
        <message>
            <source>An existing memory keeps its clip length.</source>
            <translation>一份记忆始终保持最初的长度。</translation>
        </message>
        <message>
            <source>More pictures find faces that appear briefly, but take longer.</source>
            <translation>数值越大，越能发现短暂出现的脸，但耗时更长。</translation>
        </message>
        <message>
            <source>0 = the number of cores, at most 4.</source>
            <translation>0 = 与核心数相同，最多 4。</translation>
        </message>
        <message>
            <source>Needs the language model.</source>
            <translation>需要语言模型。</translation>
        </message>
        <message>
            <source>Same as the system</source>
            <translation>跟随系统</translation>
        </message>
        <message>
            <source>Light</source>
            <translation>浅色</translation>
        </message>
        <message>
            <source>Dark</source>
            <translation>深色</translation>
        </message>
        <message>
            <source>As spoken in the video</source>
            <translation>与视频中所说的语言相同</translation>
        </message>
        <message>
            <source>Built in (this machine's processor)</source>
            <translation>内置（本机处理器）</translation>
        </message>
        <message>
            <source>Settings</source>
            <translation>设置</translation>
        </message>
        <message>
            <source>Stored in %1</source>
            <translation>保存在 %1</translation>
        </message>
        <message>
            <source>Save</source>
            <translation>保存</translation>
        </message>
        <message>
            <source>Cancel</source>
            <translation>取消</translation>
        </message>
        <message>
            <source>Also write general knowledge, not only events</source>
            <translation>不仅写下发生的事，也写下成立的事</translation>
        </message>
        <message>
            <source> s</source>
            <translation> 秒</translation>
        </message>
        <message>
            <source> per second</source>
            <translation> 次/秒</translation>
        </message>
        <message>
            <source>Settings for memorizing take effect when a memory is opened again.</source>
            <translation>工作方面的设置在重新打开记忆后生效。</translation>
        </message>
        <message>
            <source>This memory</source>
            <translation>此记忆</translation>
        </message>
        <message>
            <source>Keep recordings</source>
            <translation>保留录像</translation>
        </message>
        <message>
            <source>Disk budget</source>
            <translation>磁盘限额</translation>
        </message>
        <message>
            <source>Of live sources: camera, microphone, network cameras.</source>
            <translation>实时来源：摄像头、麦克风、网络摄像头。</translation>
        </message>
        <message>
            <source>Of one live source; 0 = no limit but the disk.</source>
            <translation>每个实时来源；0 = 只受磁盘限制。</translation>
        </message>
        <message>
            <source>Always</source>
            <translation>始终</translation>
        </message>
        <message>
            <source>Until they are memorized</source>
            <translation>直到记忆完成</translation>
        </message>
        <message>
            <source>%1 hours</source>
            <translation>%1 小时</translation>
        </message>
        <message>
            <source> GB</source>
            <translation> GB</translation>
        </message>
    </context>
    <context>
        <name>ShortcutList</name>
        <message>
            <source>Say who a moving face is</source>
            <translation>指认移动中的人脸</translation>
        </message>
        <message>
            <source>point at it, then click there: it may have moved on</source>
            <translation>先指向它，再点击该处：它移开了也算数</translation>
        </message>
        <message>
            <source>Scroll through the people of the timeline</source>
            <translation>滚动时间轴上的人物</translation>
        </message>
        <message>
            <source>wheel over their names or lanes; Ctrl + wheel zooms there</source>
            <translation>在名字或轨道上滚动滚轮；Ctrl + 滚轮在此缩放</translation>
        </message>
        <message>
            <source>drag on the timeline, or [ and ] at its start and end</source>
            <translation>在时间线上拖动，或在起点和终点按 [ 和 ]</translation>
        </message>
        <message>
            <source>Enlarge the picture</source>
            <translation>放大画面</translation>
        </message>
        <message>
            <source>Ctrl + wheel; then drag to move it</source>
            <translation>Ctrl + 滚轮；然后拖动可移动画面</translation>
        </message>
        <message>
            <source>Actions and shortcuts</source>
            <translation>操作与快捷键</translation>
        </message>
        <message>
            <source>Find an action</source>
            <translation>查找操作</translation>
        </message>
        <message>
            <source>Action</source>
            <translation>操作</translation>
        </message>
        <message>
            <source>Shortcut</source>
            <translation>快捷键</translation>
        </message>
        <message>
            <source>With the mouse</source>
            <translation>使用鼠标</translation>
        </message>
        <message>
            <source>Say who a face is</source>
            <translation>说明一张脸是谁</translation>
        </message>
        <message>
            <source>click it in the picture</source>
            <translation>在画面中点击它</translation>
        </message>
        <message>
            <source>Zoom the timeline</source>
            <translation>缩放时间轴</translation>
        </message>
        <message>
            <source>wheel</source>
            <translation>滚轮</translation>
        </message>
        <message>
            <source>Move along the timeline</source>
            <translation>沿时间轴移动</translation>
        </message>
        <message>
            <source>Shift + wheel, or drag with the middle button</source>
            <translation>Shift + 滚轮，或按住中键拖动</translation>
        </message>
        <message>
            <source>Ask or search only in a time span</source>
            <translation>只在一段时间内提问或搜索</translation>
        </message>
        <message>
            <source>Go to a word</source>
            <translation>跳到某个词</translation>
        </message>
        <message>
            <source>click it in the transcript</source>
            <translation>在文字记录中点击它</translation>
        </message>
        <message>
            <source>Say who speaks</source>
            <translation>说明是谁在说话</translation>
        </message>
        <message>
            <source>click the speaker's name</source>
            <translation>点击说话人的名字</translation>
        </message>
    </context>
    <context>
        <name>SideList</name>
        <message>
            <source>(speech not understood)</source>
            <translation>（听不清内容）</translation>
        </message>
    </context>
    <context>
        <name>SourcesView</name>
        <message>
            <source>Locate folder…</source>
            <translation>定位文件夹…</translation>
        </message>
        <message>
            <source>Its recording is deleted, too. This can't be undone.</source>
            <translation>它的录像也会被删除。此操作无法撤销。</translation>
        </message>
        <message>
            <source>Sources</source>
            <translation>来源</translation>
        </message>
        <message>
            <source>Add…</source>
            <translation>添加…</translation>
        </message>
        <message>
            <source>Memorize more videos or sound files</source>
            <translation>记忆更多视频或音频文件</translation>
        </message>
        <message>
            <source>Folder…</source>
            <translation>文件夹…</translation>
        </message>
        <message>
            <source>Memorize every video of a folder, in name order</source>
            <translation>按名称顺序记忆文件夹中的所有视频</translation>
        </message>
        <message>
            <source>What can be done with the selected source</source>
            <translation>可对所选来源进行的操作</translation>
        </message>
        <message>
            <source>Actions on the selected source</source>
            <translation>对所选来源的操作</translation>
        </message>
        <message>
            <source>Drop videos or a folder here.</source>
            <translation>将视频或文件夹拖到这里。</translation>
        </message>
        <message>
            <source>Resume memorizing</source>
            <translation>继续记忆</translation>
        </message>
        <message>
            <source>Pause memorizing</source>
            <translation>暂停记忆</translation>
        </message>
        <message>
            <source>Watch</source>
            <translation>观看</translation>
        </message>
        <message>
            <source>Memorize next</source>
            <translation>接下来记忆</translation>
        </message>
        <message>
            <source>Cancel</source>
            <translation>取消</translation>
        </message>
        <message>
            <source>Retry</source>
            <translation>重试</translation>
        </message>
        <message>
            <source>Locate file…</source>
            <translation>定位文件…</translation>
        </message>
        <message>
            <source>Remove…</source>
            <translation>移除…</translation>
        </message>
        <message>
            <source>Where is %1 now?</source>
            <translation>%1 现在在哪里？</translation>
        </message>
        <message>
            <source>Remove a source</source>
            <translation>移除来源</translation>
        </message>
        <message>
            <source>Remove %1 from this memory?</source>
            <translation>从这份记忆中移除 %1？</translation>
        </message>
        <message>
            <source>The file itself stays where it is. This can't be undone.</source>
            <translation>文件本身保持原位。此操作无法撤销。</translation>
        </message>
        <message>
            <source>Remove</source>
            <translation>移除</translation>
        </message>
        <message>
            <source>Memorize the videos of a folder</source>
            <translation>记忆一个文件夹中的视频</translation>
        </message>
    </context>
    <context>
        <name>StartDialog</name>
        <message>
            <source>Use camera and microphone</source>
            <translation>使用摄像头和麦克风</translation>
        </message>
        <message>
            <source>Devices of this machine</source>
            <translation>本机设备</translation>
        </message>
        <message>
            <source>Camera</source>
            <translation>摄像头</translation>
        </message>
        <message>
            <source>Microphone</source>
            <translation>麦克风</translation>
        </message>
        <message>
            <source>An address</source>
            <translation>地址</translation>
        </message>
        <message>
            <source>Address of a camera stream</source>
            <translation>摄像头视频流的地址</translation>
        </message>
        <message>
            <source>A network camera (rtsp, http), or a file that is delivered as if it were live (file:PATH?live)</source>
            <translation>网络摄像头（rtsp、http），或像实时一样播放的文件（file:PATH?live）</translation>
        </message>
        <message>
            <source>Keep the recording</source>
            <translation>保留录像</translation>
        </message>
        <message>
            <source>Always</source>
            <translation>始终</translation>
        </message>
        <message>
            <source>For some hours</source>
            <translation>保留若干小时</translation>
        </message>
        <message>
            <source>Until it is remembered</source>
            <translation>直到记忆完成</translation>
        </message>
        <message>
            <source> h</source>
            <translation> 小时</translation>
        </message>
        <message>
            <source>Hours that the recording is kept</source>
            <translation>录像保留的小时数</translation>
        </message>
        <message>
            <source> GB</source>
            <translation> GB</translation>
        </message>
        <message>
            <source>no limit</source>
            <translation>不限</translation>
        </message>
        <message>
            <source>Disk budget</source>
            <translation>磁盘限额</translation>
        </message>
        <message>
            <source>Recording warns before it has used this much, and then stops; it never fills the disk</source>
            <translation>录制在用满限额前会警告，然后停止；绝不会占满磁盘</translation>
        </message>
        <message>
            <source>Blur unknown people (bystander mode)</source>
            <translation>模糊不认识的人（旁观者模式）</translation>
        </message>
        <message>
            <source>Faces that this memory does not know are blurred in the picture and in the recording until you approve them</source>
            <translation>此记忆不认识的人脸，在画面和录像中都会被模糊，直到您批准</translation>
        </message>
        <message>
            <source>Memory</source>
            <translation>记忆</translation>
        </message>
        <message>
            <source>Test</source>
            <translation>测试</translation>
        </message>
        <message>
            <source>Open what is chosen and show what it delivers; nothing is recorded</source>
            <translation>打开所选设备并显示其内容；不录制</translation>
        </message>
        <message>
            <source>Look for devices again</source>
            <translation>重新查找设备</translation>
        </message>
        <message>
            <source>Start</source>
            <translation>开始</translation>
        </message>
        <message>
            <source>Cancel</source>
            <translation>取消</translation>
        </message>
        <message>
            <source>%1 (open now)</source>
            <translation>%1（已打开）</translation>
        </message>
        <message>
            <source>A new memory</source>
            <translation>新的记忆</translation>
        </message>
        <message>
            <source>Looking for cameras and microphones …</source>
            <translation>正在查找摄像头和麦克风…</translation>
        </message>
        <message>
            <source>No camera</source>
            <translation>不用摄像头</translation>
        </message>
        <message>
            <source>No microphone</source>
            <translation>不用麦克风</translation>
        </message>
        <message>
            <source>No camera or microphone was found. Connect one and look again, or give the address of a camera stream below.</source>
            <translation>没有找到摄像头或麦克风。请连接后重新查找，或在下方填写摄像头视频流的地址。</translation>
        </message>
        <message>
            <source>“Test” shows what this address delivers.</source>
            <translation>“测试”会显示此地址的内容。</translation>
        </message>
        <message>
            <source>Opening the devices …</source>
            <translation>正在打开设备…</translation>
        </message>
        <message>
            <source>Nothing is chosen.</source>
            <translation>没有选择任何设备。</translation>
        </message>
        <message>
            <source>Opening …</source>
            <translation>正在打开…</translation>
        </message>
        <message>
            <source>Only a test: nothing is recorded.</source>
            <translation>只是测试：不录制。</translation>
        </message>
        <message>
            <source>%1 pictures per second</source>
            <translation>每秒 %1 帧</translation>
        </message>
        <message>
            <source>Sound only</source>
            <translation>只有声音</translation>
        </message>
        <message>
            <source>only a test: nothing is recorded</source>
            <translation>只是测试：不录制</translation>
        </message>
        <message>
            <source>The device delivers nothing.</source>
            <translation>设备没有传来任何内容。</translation>
        </message>
        <message>
            <source>The device does not answer. Another program may be using it; the rest of M3Desk goes on.</source>
            <translation>设备没有响应。可能有另一个程序在使用它；M3Desk 的其他部分不受影响。</translation>
        </message>
    </context>
    <context>
        <name>StartPage</name>
        <message>
            <source>A folder whose name ends in .m3desk. To import a .json or .pkl.gz file, drop it here or press Ctrl+I.</source>
            <translation>名称以 .m3desk 结尾的文件夹。要导入 .json 或 .pkl.gz 文件，请拖到这里或按 Ctrl+I。</translation>
        </message>
        <message>
            <source>What would you like to remember?</source>
            <translation>您想记住什么？</translation>
        </message>
        <message>
            <source>M3Desk watches a video with you, notes who appears, what they say and what happens, and answers questions about it.</source>
            <translation>M3Desk 与您一起观看视频，记下谁出现、说了什么、发生了什么，并回答有关的问题。</translation>
        </message>
        <message>
            <source>Everything runs on this machine.</source>
            <translation>一切都在这台机器上完成。</translation>
        </message>
        <message>
            <source>Open a video</source>
            <translation>打开视频</translation>
        </message>
        <message>
            <source>Plays at once, and is memorized while you watch. You can also drop files or a folder here.</source>
            <translation>立即播放，并在您观看时记忆。也可以将文件或文件夹拖到这里。</translation>
        </message>
        <message>
            <source>Use camera and microphone</source>
            <translation>使用摄像头和麦克风</translation>
        </message>
        <message>
            <source>Open a memory</source>
            <translation>打开记忆</translation>
        </message>
        <message>
            <source>Try the demo</source>
            <translation>试用演示</translation>
        </message>
        <message>
            <source>A short public-domain White House speech (downloaded once, less than 1 MB)</source>
            <translation>一段公有领域的白宫短讲话（只需下载一次，不到 1 MB）</translation>
        </message>
        <message>
            <source>Recent memories</source>
            <translation>最近的记忆</translation>
        </message>
        <message>
            <source>Checking what this machine can do …</source>
            <translation>正在查看这台机器的能力…</translation>
        </message>
        <message>
            <source>Models are missing (%1). Download them in the Models dialog.</source>
            <translation>还没有完整的模型组合（%1）。请在“模型”窗口中下载。</translation>
        </message>
        <message>
            <source>%1 of memory</source>
            <translation>%1 内存</translation>
        </message>
        <message>
            <source>%1 (%2 free)</source>
            <translation>%1（可用 %2）</translation>
        </message>
        <message>
            <source>no GPU found</source>
            <translation>未发现 GPU</translation>
        </message>
        <message>
            <source>Could not check this machine: %1</source>
            <translation>无法查看这台机器：%1</translation>
        </message>
        <message>
            <source>Remembered as it happens: names on the picture, answers about a minute ago. Network cameras too.</source>
            <translation>边发生边记忆：画面上显示姓名，可以询问一分钟前的事。也支持网络摄像头。</translation>
        </message>
    </context>
    <context>
        <name>Status</name>
        <message>
            <source>Cancel</source>
            <translation>取消</translation>
        </message>
        <message>
            <source>Cancel this work</source>
            <translation>取消这项工作</translation>
        </message>
        <message>
            <source>Stop this; what is done is kept, and it can be continued later</source>
            <translation>停止；已完成的部分会保留，以后可以继续</translation>
        </message>
        <message>
            <source>Profile “%1”</source>
            <translation>配置“%1”</translation>
        </message>
        <message>
            <source>Status</source>
            <translation>状态</translation>
        </message>
        <message>
            <source>engine stopped</source>
            <translation>引擎已停止</translation>
        </message>
        <message>
            <source>Opening the memory …</source>
            <translation>正在打开记忆…</translation>
        </message>
        <message>
            <source>Profile “%1”; nothing leaves this machine</source>
            <translation>配置“%1”；任何数据都不会离开这台机器</translation>
        </message>
        <message>
            <source>models missing: %1</source>
            <translation>缺少模型：%1</translation>
        </message>
        <message>
            <source>engine is restarting</source>
            <translation>引擎正在重新启动</translation>
        </message>
        <message>
            <source>Loading %1 …</source>
            <translation>正在载入 %1…</translation>
        </message>
        <message>
            <source>Downloading %1: %2 of %3</source>
            <translation>正在下载 %1：%2 / %3</translation>
        </message>
        <message>
            <source>%1 of %2 clips</source>
            <translation>%1 / %2 个片段</translation>
        </message>
        <message>
            <source>%1 real time</source>
            <translation>实时的 %1</translation>
        </message>
        <message>
            <source>%1 left</source>
            <translation>剩余 %1</translation>
        </message>
        <message>
            <source>Progress</source>
            <translation>进度</translation>
        </message>
        <message>
            <source>%1 behind playback</source>
            <translation>落后播放 %1</translation>
        </message>
        <message>
            <source>ahead of playback</source>
            <translation>领先于播放</translation>
        </message>
        <message>
            <source>no language model: no knowledge is written</source>
            <translation>没有语言模型：不会写入知识</translation>
        </message>
        <message>
            <source>Download one in the chat or under “Models”; clips get their knowledge then.</source>
            <translation>请在聊天中或在“模型”里下载；之后片段会获得知识。</translation>
        </message>
        <message>
            <source>older face model</source>
            <translation>人脸模型较旧</translation>
        </message>
        <message>
            <source>older voice model</source>
            <translation>声音模型较旧</translation>
        </message>
        <message>
            <source>New memories use a newer model. To move this one to it, close it and run: %1</source>
            <translation>新的记忆使用更新的模型。要让这份记忆改用该模型，请先关闭它，然后运行：%1</translation>
        </message>
        <message>
            <source>Without --switch the command only shows what would change. The command is also under “Problems”.</source>
            <translation>不带 --switch 时，该命令只显示会改变什么。“问题”里也有这条命令。</translation>
        </message>
        <message>
            <source>clips without knowledge yet: %1</source>
            <translation>尚无知识的片段：%1</translation>
        </message>
        <message>
            <source>clips memorized: %1 · people: %2</source>
            <translation>已记忆片段：%1 · 人物：%2</translation>
        </message>
        <message>
            <source>waiting: %1</source>
            <translation>等待中：%1</translation>
        </message>
        <message>
            <source>Nothing memorized yet</source>
            <translation>还没有记忆</translation>
        </message>
    </context>
    <context>
        <name>Texts</name>
        <message>
            <source>the lips move with the voice</source>
            <translation>嘴唇随声音而动</translation>
        </message>
        <message>
            <source>the mouth moves when it is this voice's turn</source>
            <translation>轮到这个声音时嘴在动</translation>
        </message>
        <message>
            <source>alone in view while the voice speaks</source>
            <translation>声音响起时画面中只有此人</translation>
        </message>
        <message>
            <source>the mouth is still while the voice speaks</source>
            <translation>声音响起时嘴没有动</translation>
        </message>
        <message>
            <source>the same name is heard or read of both</source>
            <translation>听到或读到的名字相同</translation>
        </message>
        <message>
            <source>the model that wrote the memories says so</source>
            <translation>撰写记忆的模型这样认为</translation>
        </message>
        <message>
            <source>the imported graph says so</source>
            <translation>导入的图中如此</translation>
        </message>
        <message>
            <source>the two are much alike</source>
            <translation>两者非常相似</translation>
        </message>
        <message>
            <source>reading the file</source>
            <translation>正在读取文件</translation>
        </message>
        <message>
            <source>writing the memory</source>
            <translation>正在写入记忆</translation>
        </message>
        <message>
            <source>waiting for %1 to finish: both do not fit on the graphics card</source>
            <translation>等待 %1 完成：显卡显存不够同时容纳两者</translation>
        </message>
        <message>
            <source>%1 is unloaded: both do not fit on the graphics card</source>
            <translation>正在卸载 %1：显卡显存不够同时容纳两者</translation>
        </message>
        <message>
            <source>Questions and clips go to %1</source>
            <translation>问题和片段会发送到 %1</translation>
        </message>
        <message>
            <source>Clips go to %1</source>
            <translation>片段会发送到 %1</translation>
        </message>
        <message>
            <source>Questions go to %1</source>
            <translation>问题会发送到 %1</translation>
        </message>
        <message>
            <source>Questions go to %1: each with the sentences found for it and the names in them; for knowledge, what people say in each clip.</source>
            <translation>问题会发送到 %1：每个问题连同为它找到的句子和其中的人名；写知识时还有每个片段中人们说的话。</translation>
        </message>
        <message>
            <source>Clips go to %1: pictures, cut-out faces, what is said, the sound where the server takes sound, and earlier sentences.</source>
            <translation>片段会发送到 %1：画面、裁出的人脸、说的话、声音（如果服务器接受声音）以及之前的句子。</translation>
        </message>
        <message>
            <source>They go unencrypted (http): whoever is between can read them.</source>
            <translation>传输未加密（http）：途中的任何人都能读取。</translation>
        </message>
        <message>
            <source>%1 threads</source>
            <translation>%1 个线程</translation>
        </message>
        <message>
            <source>%1 cores</source>
            <translation>%1 个核心</translation>
        </message>
        <message>
            <source>%1, %2</source>
            <translation>%1，%2</translation>
        </message>
        <message>
            <source>embedded</source>
            <translation>内置</translation>
        </message>
        <message>
            <source>server</source>
            <translation>服务器</translation>
        </message>
        <message>
            <source>weights are missing (%1): %2</source>
            <translation>缺少模型权重（%1）：%2</translation>
        </message>
        <message>
            <source>%1: %2</source>
            <translation>%1：%2</translation>
        </message>
        <message>
            <source>Person %1</source>
            <translation>人物 %1</translation>
        </message>
        <message>
            <source>%1 s</source>
            <translation>%1 秒</translation>
        </message>
        <message>
            <source>%1 min %2 s</source>
            <translation>%1 分 %2 秒</translation>
        </message>
        <message>
            <source>%1 h %2 min</source>
            <translation>%1 小时 %2 分</translation>
        </message>
        <message>
            <source>waiting</source>
            <translation>等待中</translation>
        </message>
        <message>
            <source>being memorized</source>
            <translation>正在记忆</translation>
        </message>
        <message>
            <source>paused</source>
            <translation>已暂停</translation>
        </message>
        <message>
            <source>memorized</source>
            <translation>已记忆</translation>
        </message>
        <message>
            <source>memorized, no knowledge yet</source>
            <translation>已记忆，尚无知识</translation>
        </message>
        <message>
            <source>partly memorized</source>
            <translation>部分记忆</translation>
        </message>
        <message>
            <source>failed</source>
            <translation>失败</translation>
        </message>
        <message>
            <source>cancelled</source>
            <translation>已取消</translation>
        </message>
        <message>
            <source>skipped</source>
            <translation>已跳过</translation>
        </message>
        <message>
            <source>watching and listening</source>
            <translation>正在观看和聆听</translation>
        </message>
        <message>
            <source>memories written</source>
            <translation>记忆已写下</translation>
        </message>
        <message>
            <source>writing knowledge</source>
            <translation>写出知识</translation>
        </message>
        <message>
            <source>re-embedding</source>
            <translation>重新计算特征向量</translation>
        </message>
        <message>
            <source>recognizing everybody again</source>
            <translation>重新识别所有人</translation>
        </message>
        <message>
            <source>rebuilding the memory's tables</source>
            <translation>重建记忆的表</translation>
        </message>
        <message>
            <source>face</source>
            <translation>人脸</translation>
        </message>
        <message>
            <source>voice</source>
            <translation>声音</translation>
        </message>
        <message>
            <source>event</source>
            <translation>事件</translation>
        </message>
        <message>
            <source>knowledge</source>
            <translation>知识</translation>
        </message>
        <message>
            <source>object</source>
            <translation>物品</translation>
        </message>
        <message>
            <source>place</source>
            <translation>地点</translation>
        </message>
        <message>
            <source>person</source>
            <translation>人物</translation>
        </message>
        <message>
            <source>traits</source>
            <translation>特征</translation>
        </message>
        <message>
            <source>relationships</source>
            <translation>关系</translation>
        </message>
        <message>
            <source>habits</source>
            <translation>习惯</translation>
        </message>
        <message>
            <source>what happened</source>
            <translation>经过</translation>
        </message>
        <message>
            <source>general</source>
            <translation>一般</translation>
        </message>
        <message>
            <source>Memories are not encrypted. Anyone who can read this folder can read names, faces and speech in it.</source>
            <translation>记忆未加密。任何能读取此文件夹的人，都能读取其中的姓名、人脸和语音。</translation>
        </message>
        <message>
            <source>Memories are not encrypted. Anyone who can read a memory's folder can read names, faces and speech in it.</source>
            <translation>记忆未加密。任何能读取记忆文件夹的人，都能读取其中的姓名、人脸和语音。</translation>
        </message>
        <message>
            <source>answers quote memories until the language model is there (File → Models)</source>
            <translation>下载语言模型之前，回答只引用记忆（文件 → 模型）</translation>
        </message>
        <message>
            <source>video %1, %2</source>
            <translation>视频 %1，%2</translation>
        </message>
        <message>
            <source>the face detector</source>
            <translation>人脸检测</translation>
        </message>
        <message>
            <source>face recognition</source>
            <translation>人脸识别</translation>
        </message>
        <message>
            <source>the speech detector</source>
            <translation>语音检测</translation>
        </message>
        <message>
            <source>voice recognition</source>
            <translation>声纹识别</translation>
        </message>
        <message>
            <source>speech recognition</source>
            <translation>语音识别</translation>
        </message>
        <message>
            <source>the object detector</source>
            <translation>物体检测</translation>
        </message>
        <message>
            <source>text recognition</source>
            <translation>文字识别</translation>
        </message>
        <message>
            <source>search by meaning</source>
            <translation>语义搜索</translation>
        </message>
        <message>
            <source>the language model</source>
            <translation>语言模型</translation>
        </message>
        <message>
            <source>the vision model</source>
            <translation>视觉模型</translation>
        </message>
        <message>
            <source>%1 (%2)</source>
            <translation>%1（%2）</translation>
        </message>
    </context>
    <context>
        <name>TimelineCanvas</name>
        <message>
            <source>memorizing</source>
            <translation>记忆中</translation>
        </message>
        <message>
            <source>From %1 to %2. People in view: %3</source>
            <translation>从 %1 到 %2。可见的人：%3</translation>
        </message>
        <message>
            <source>forgotten</source>
            <translation>已忘记</translation>
        </message>
        <message>
            <source>sound</source>
            <translation>声音</translation>
        </message>
        <message>
            <source>Timeline</source>
            <translation>时间轴</translation>
        </message>
        <message>
            <source>clips</source>
            <translation>片段</translation>
        </message>
        <message>
            <source>memories</source>
            <translation>记忆</translation>
        </message>
    </context>
    <context>
        <name>TimelineView</name>
        <message>
            <source>All sources</source>
            <translation>全部来源</translation>
        </message>
        <message>
            <source>Bookmark this moment, or the chosen span (B)</source>
            <translation>为这一时刻或选定的时段添加书签（B）</translation>
        </message>
        <message>
            <source>Bookmarks (Ctrl+Shift+B)</source>
            <translation>书签（Ctrl+Shift+B）</translation>
        </message>
        <message>
            <source>Go there</source>
            <translation>转到此处</translation>
        </message>
        <message>
            <source>Note…</source>
            <translation>笔记…</translation>
        </message>
        <message>
            <source>Remove this bookmark</source>
            <translation>删除此书签</translation>
        </message>
        <message>
            <source>Save as video…</source>
            <translation>另存为视频…</translation>
        </message>
        <message>
            <source>Save the chosen span as a video</source>
            <translation>将所选时段另存为视频</translation>
        </message>
        <message>
            <source>Saved %1</source>
            <translation>已保存 %1</translation>
        </message>
        <message>
            <source>Source shown</source>
            <translation>显示的来源</translation>
        </message>
        <message>
            <source>pale: on screen · solid: speaks · ◆ knowledge · ❘ event</source>
            <translation>浅色：在画面中 · 深色：说话 · ◆ 知识 · ❘ 事件</translation>
        </message>
        <message>
            <source>Zoom out (-)</source>
            <translation>缩小 (-)</translation>
        </message>
        <message>
            <source>Show all (0)</source>
            <translation>显示全部 (0)</translation>
        </message>
        <message>
            <source>Zoom in (+)</source>
            <translation>放大 (+)</translation>
        </message>
        <message>
            <source>Ask only here</source>
            <translation>只在此处提问</translation>
        </message>
        <message>
            <source>Memories here</source>
            <translation>此处的记忆</translation>
        </message>
        <message>
            <source>Clear the time span (Esc)</source>
            <translation>取消所选时段 (Esc)</translation>
        </message>
    </context>
    <context>
        <name>TranscriptView</name>
        <message>
            <source>This memory holds no words spoken in this video.</source>
            <translation>此记忆中没有该视频所说的话。</translation>
        </message>
        <message>
            <source>Transcript</source>
            <translation>文字记录</translation>
        </message>
        <message>
            <source>Find words</source>
            <translation>查找词语</translation>
        </message>
        <message>
            <source>Follow the picture</source>
            <translation>跟随画面</translation>
        </message>
        <message>
            <source>What is said appears here as clips are memorized.</source>
            <translation>随着片段被记忆，所说的话会出现在这里。</translation>
        </message>
        <message>
            <source>Play from here</source>
            <translation>从这里播放</translation>
        </message>
        <message>
            <source>This is…</source>
            <translation>这是…</translation>
        </message>
        <message>
            <source>Not speech</source>
            <translation>不是说话</translation>
        </message>
        <message>
            <source>Show in the inspector</source>
            <translation>在检查器中显示</translation>
        </message>
        <message>
            <source>Heard unclearly: these words may be wrong. F2 corrects them, the menu confirms them.</source>
            <translation>没有听清：这些文字可能有误。按 F2 更正，或在菜单中确认。</translation>
        </message>
        <message>
            <source>These words are right</source>
            <translation>这些文字正确</translation>
        </message>
        <message>
            <source>Correct the words…</source>
            <translation>更正文字…</translation>
        </message>
        <message>
            <source>Correct the words</source>
            <translation>更正文字</translation>
        </message>
        <message>
            <source>What was said?</source>
            <translation>说了什么？</translation>
        </message>
    </context>
    <context>
        <name>Transport</name>
        <message>
            <source>Play or pause (Space)</source>
            <translation>播放或暂停（空格）</translation>
        </message>
        <message>
            <source>Back 5 seconds (Left)</source>
            <translation>后退 5 秒（←）</translation>
        </message>
        <message>
            <source>One frame back (,)</source>
            <translation>上一帧 (,)</translation>
        </message>
        <message>
            <source>One frame forward (.)</source>
            <translation>下一帧 (.)</translation>
        </message>
        <message>
            <source>Forward 5 seconds (Right)</source>
            <translation>前进 5 秒（→）</translation>
        </message>
        <message>
            <source>Position in the video</source>
            <translation>视频中的位置</translation>
        </message>
        <message>
            <source>Going to that moment; Space stops here</source>
            <translation>正在前往该时刻；按空格键停在此处</translation>
        </message>
        <message>
            <source>Speed</source>
            <translation>速度</translation>
        </message>
        <message>
            <source>Mute (Ctrl+M)</source>
            <translation>静音 (Ctrl+M)</translation>
        </message>
        <message>
            <source>Volume</source>
            <translation>音量</translation>
        </message>
        <message>
            <source>No sound: %1</source>
            <translation>没有声音：%1</translation>
        </message>
    </context>
    <context>
        <name>ChatTurn</name>
        <message>
            <source>read from the evidence</source>
            <translation>读自证据</translation>
        </message>
        <message>
            <source>quoted</source>
            <translation>引用</translation>
        </message>
        <message>
            <source>The language model did not answer, so the best matching memories are quoted: %1</source>
            <translation>语言模型没有回答，因此引用最相符的记忆：%1</translation>
        </message>
        <message>
            <source>Searching …</source>
            <translation>正在搜索…</translation>
        </message>
        <message>
            <source>Writing the answer …</source>
            <translation>正在写回答…</translation>
        </message>
        <message>
            <source>Nothing found; trying again …</source>
            <translation>没有找到，正在重试…</translation>
        </message>
        <message>
            <source>Memorizing the last second first.</source>
            <translation>先记录最后 1 秒。</translation>
        </message>
        <message>
            <source>Memorizing the last %1 seconds first.</source>
            <translation>先记录最后 %1 秒。</translation>
        </message>
        <message>
            <source>The last second is not memorized yet: of it only names and subtitles are known.</source>
            <translation>最后 1 秒还没有记录：只知道其中的人名和字幕。</translation>
        </message>
        <message>
            <source>The last %1 seconds are not memorized yet: of them only names and subtitles are known.</source>
            <translation>最后 %1 秒还没有记录：只知道其中的人名和字幕。</translation>
        </message>
        <message>
            <source>Reading 1 memory …</source>
            <translation>正在阅读 1 条记忆…</translation>
        </message>
        <message>
            <source>Reading %1 memories …</source>
            <translation>正在阅读 %1 条记忆…</translation>
        </message>
        <message>
            <source>This is not in the memory.</source>
            <translation>记忆中没有这个内容。</translation>
        </message>
        <message>
            <source>Not in this memory</source>
            <translation>这份记忆里没有</translation>
        </message>
        <message>
            <source>Download the language model</source>
            <translation>下载语言模型</translation>
        </message>
        <message>
            <source>There is no language model yet.</source>
            <translation>这里还没有语言模型。</translation>
        </message>
        <message>
            <source>(stopped)</source>
            <translation>（已停止）</translation>
        </message>
        <message>
            <source>What this answer rests on was corrected since.</source>
            <translation>这个回答的依据后来被更正过。</translation>
        </message>
        <message>
            <source>Ask again</source>
            <translation>重新提问</translation>
        </message>
    </context>
    <context>
        <name>TrialPicture</name>
        <message>
            <source>Preview</source>
            <translation>预览</translation>
        </message>
    </context>
    <context>
        <name>VideoView</name>
        <message>
            <source>No video is in this memory yet. Drop one here, or press Ctrl+Shift+A.</source>
            <translation>此记忆中还没有视频。请拖放视频到这里，或按 Ctrl+Shift+A。</translation>
        </message>
        <message>
            <source>This memory was imported without its video. Everything else is here.</source>
            <translation>这个记忆导入时没有视频，其他内容都在。</translation>
        </message>
        <message>
            <source>The file %1 is missing, but its memories are still here.</source>
            <translation>找不到文件 %1，但它的记忆还在。</translation>
        </message>
        <message>
            <source>Locate the video…</source>
            <translation>定位视频…</translation>
        </message>
        <message>
            <source>Choose the video file that these memories are of</source>
            <translation>选择这些记忆所对应的视频文件</translation>
        </message>
        <message>
            <source>Drop a video here, or choose File → Open a video.</source>
            <translation>将视频拖到这里，或选择“文件 → 打开视频”。</translation>
        </message>
        <message>
            <source>Sound only: %1</source>
            <translation>仅有声音：%1</translation>
        </message>
    </context>
    <context>
        <name>WatchDialog</name>
        <message>
            <source>Type what to watch for first.</source>
            <translation>请先输入要留意的内容。</translation>
        </message>
        <message>
            <source>Watch for</source>
            <translation>留意</translation>
        </message>
        <message>
            <source>A notice appears as soon as one of these is seen or heard. The rules are kept with this memory.</source>
            <translation>一旦看到或听到其中之一，就会出现通知。规则随此记忆保存。</translation>
        </message>
        <message>
            <source>Kind of rule</source>
            <translation>规则类型</translation>
        </message>
        <message>
            <source>A person appears</source>
            <translation>某人出现</translation>
        </message>
        <message>
            <source>A word is said</source>
            <translation>某个词被说出</translation>
        </message>
        <message>
            <source>An object is seen</source>
            <translation>看到某个物体</translation>
        </message>
        <message>
            <source>Who or what to watch for</source>
            <translation>留意的人或物</translation>
        </message>
        <message>
            <source>Add</source>
            <translation>添加</translation>
        </message>
        <message>
            <source>Remove</source>
            <translation>移除</translation>
        </message>
        <message>
            <source>Rules</source>
            <translation>规则</translation>
        </message>
        <message>
            <source>Found since this memory was opened</source>
            <translation>打开此记忆以来发现的</translation>
        </message>
        <message>
            <source>Close</source>
            <translation>关闭</translation>
        </message>
        <message>
            <source>when %1 appears</source>
            <translation>当 %1 出现时</translation>
        </message>
        <message>
            <source>when somebody says “%1”</source>
            <translation>当有人说“%1”时</translation>
        </message>
        <message>
            <source>when this is seen: %1</source>
            <translation>当看到：%1</translation>
        </message>
        <message>
            <source>a name</source>
            <translation>姓名</translation>
        </message>
        <message>
            <source>a word, such as “budget”</source>
            <translation>一个词，例如“预算”</translation>
        </message>
        <message>
            <source>an object, such as “cup”</source>
            <translation>一个物体，例如“cup”</translation>
        </message>
        <message>
            <source>Nobody in this memory is called %1.</source>
            <translation>此记忆中没有人叫 %1。</translation>
        </message>
        <message>
            <source>Play this moment</source>
            <translation>播放这一刻</translation>
        </message>
    </context>
    <context>
        <name>_Paint</name>
        <message>
            <source>%1 left</source>
            <translation>剩余 %1</translation>
        </message>
        <message>
            <source>1 clip failed</source>
            <translation>1 个片段失败</translation>
        </message>
        <message>
            <source>%1 clips failed</source>
            <translation>%1 个片段失败</translation>
        </message>
        <message>
            <source>file not found</source>
            <translation>找不到文件</translation>
        </message>
    </context>
    <context>
        <name>Restoring</name>
        <message>
            <source>This memory is damaged</source>
            <translation>此记忆已损坏</translation>
        </message>
        <message>
            <source>The last good copy is from %1. What was memorized or corrected later is not in it. The damaged file is kept.</source>
            <translation>最近的完好副本是 %1 的。之后记住或更正的内容不在其中。损坏的文件会保留。</translation>
        </message>
        <message>
            <source>Restore the copy</source>
            <translation>恢复副本</translation>
        </message>
        <message>
            <source>There is no copy of it. Restore memory.sqlite from your own backup.</source>
            <translation>这里没有它的副本。请用您自己的备份恢复 memory.sqlite。</translation>
        </message>
        <message>
            <source>The copy from %1 was restored.</source>
            <translation>已恢复 %1 的副本。</translation>
        </message>
    </context>
    <context>
        <name>HistoryDialog</name>
        <message>
            <source>you</source>
            <translation>您</translation>
        </message>
        <message>
            <source>History of corrections</source>
            <translation>更正历史</translation>
        </message>
        <message>
            <source>When</source>
            <translation>时间</translation>
        </message>
        <message>
            <source>Correction</source>
            <translation>更正</translation>
        </message>
        <message>
            <source>By</source>
            <translation>操作者</translation>
        </message>
        <message>
            <source>Corrections, newest first</source>
            <translation>更正，最新的在前</translation>
        </message>
        <message>
            <source>Show corrections that were taken back</source>
            <translation>显示已撤回的更正</translation>
        </message>
        <message>
            <source>No corrections yet. Names, merges, splits and edits appear here.</source>
            <translation>还没有更正。命名、合并、拆分和编辑会显示在这里。</translation>
        </message>
        <message>
            <source>Take back…</source>
            <translation>撤回…</translation>
        </message>
        <message>
            <source>Take back this correction alone; later ones stay (Enter)</source>
            <translation>只撤回这一项更正；之后的更正保留（回车）</translation>
        </message>
        <message>
            <source>(taken back) %1</source>
            <translation>（已撤回）%1</translation>
        </message>
        <message>
            <source>Step %1</source>
            <translation>第 %1 步</translation>
        </message>
        <message>
            <source>Take back “%1”?</source>
            <translation>撤回“%1”？</translation>
        </message>
        <message>
            <source>Take back a correction</source>
            <translation>撤回更正</translation>
        </message>
        <message>
            <source>Take back</source>
            <translation>撤回</translation>
        </message>
    </context>
    <context>
        <name>PersonPicker</name>
        <message>
            <source>Name; type a new one for somebody new</source>
            <translation>姓名；新人请输入新名字</translation>
        </message>
        <message>
            <source>Name</source>
            <translation>姓名</translation>
        </message>
        <message>
            <source>Name of the person</source>
            <translation>此人的姓名</translation>
        </message>
        <message>
            <source>People</source>
            <translation>人物</translation>
        </message>
        <message>
            <source>Nobody has this name.</source>
            <translation>没有人叫这个名字。</translation>
        </message>
        <message>
            <source>Choose</source>
            <translation>选择</translation>
        </message>
        <message>
            <source>New person: %1</source>
            <translation>新人物：%1</translation>
        </message>
        <message>
            <source>Is this the same person as this %1?</source>
            <translation>这与此处的 %1 是同一个人吗？</translation>
        </message>
        <message>
            <source>An existing name</source>
            <translation>已有的名字</translation>
        </message>
        <message>
            <source>The same person</source>
            <translation>同一个人</translation>
        </message>
        <message>
            <source>Another %1</source>
            <translation>另一个 %1</translation>
        </message>
    </context>
    <context>
        <name>EvidenceList</name>
        <message>
            <source>Voice</source>
            <translation>声音</translation>
        </message>
        <message>
            <source>Face</source>
            <translation>人脸</translation>
        </message>
        <message>
            <source>%1 clips</source>
            <translation>%1 个片段</translation>
        </message>
        <message>
            <source>(speech not understood)</source>
            <translation>（听不清内容）</translation>
        </message>
        <message>
            <source>(no sentence tells of it)</source>
            <translation>（没有提到它的语句）</translation>
        </message>
    </context>
    <context>
        <name>Deeds</name>
        <message>
            <source>Confirmed the name “%1”</source>
            <translation>已确认名字“%1”</translation>
        </message>
        <message>
            <source>Taught %1 from %2 files</source>
            <translation>已用 %2 个文件教会识别 %1</translation>
        </message>
        <message>
            <source>Taught %1, who is new, from %2 files</source>
            <translation>已用 %2 个文件教会识别新人物 %1</translation>
        </message>
        <message>
            <source>the face is like that of %1; if they are one person, merge them</source>
            <translation>这张脸很像 %1；如果是同一个人，请合并</translation>
        </message>
        <message>
            <source>the voice is like that of %1; if they are one person, merge them</source>
            <translation>这个声音很像 %1；如果是同一个人，请合并</translation>
        </message>
        <message>
            <source>Added a bookmark at %1: “%2”</source>
            <translation>在 %1 添加了书签：“%2”</translation>
        </message>
        <message>
            <source>Added a bookmark at %1</source>
            <translation>在 %1 添加了书签</translation>
        </message>
        <message>
            <source>Changed a bookmark at %1: “%2”</source>
            <translation>修改了 %1 处的书签：“%2”</translation>
        </message>
        <message>
            <source>Changed a bookmark at %1</source>
            <translation>修改了 %1 处的书签</translation>
        </message>
        <message>
            <source>Removed a bookmark at %1</source>
            <translation>删除了 %1 处的书签</translation>
        </message>
        <message>
            <source>Took the version “%1” of clip %2</source>
            <translation>采用了片段 %2 的版本“%1”</translation>
        </message>
        <message>
            <source>%1 (%2)</source>
            <translation>%1（%2）</translation>
        </message>
        <message>
            <source>%1; %2</source>
            <translation>%1；%2</translation>
        </message>
        <message>
            <source>%1, %2</source>
            <translation>%1，%2</translation>
        </message>
        <message>
            <source>nothing else</source>
            <translation>没有其他变化</translation>
        </message>
        <message>
            <source>the face at %1</source>
            <translation>%1 处的人脸</translation>
        </message>
        <message>
            <source>the utterance at %1</source>
            <translation>%1 处的话语</translation>
        </message>
        <message>
            <source>%1 and %2</source>
            <translation>%1 和 %2</translation>
        </message>
        <message>
            <source>1 face</source>
            <translation>1 张人脸</translation>
        </message>
        <message>
            <source>%1 faces</source>
            <translation>%1 张人脸</translation>
        </message>
        <message>
            <source>1 utterance</source>
            <translation>1 句话</translation>
        </message>
        <message>
            <source>%1 utterances</source>
            <translation>%1 句话</translation>
        </message>
        <message>
            <source>1 memory</source>
            <translation>1 条记忆</translation>
        </message>
        <message>
            <source>%1 memories</source>
            <translation>%1 条记忆</translation>
        </message>
        <message>
            <source>%1 reassigned</source>
            <translation>%1 改归他人</translation>
        </message>
        <message>
            <source>%1 read differently and need rewriting</source>
            <translation>%1 的表述改变，需要重写</translation>
        </message>
        <message>
            <source>%1 read differently</source>
            <translation>%1 的表述改变</translation>
        </message>
        <message>
            <source>%1 of them need rewriting</source>
            <translation>其中 %1 条需要重写</translation>
        </message>
        <message>
            <source>joins %1</source>
            <translation>合并 %1</translation>
        </message>
        <message>
            <source>names %1</source>
            <translation>为 %1 命名</translation>
        </message>
        <message>
            <source>gives %1 to somebody new</source>
            <translation>把 %1 归给一个新的人</translation>
        </message>
        <message>
            <source>adds %1 to %2</source>
            <translation>把 %1 归给 %2</translation>
        </message>
        <message>
            <source>they are seen together in one picture at %1</source>
            <translation>他们在 %1 同时出现在画面中</translation>
        </message>
        <message>
            <source>they speak at the same time at %1</source>
            <translation>他们在 %1 同时说话</translation>
        </message>
        <message>
            <source>the lips of two people move with their speech at %1</source>
            <translation>在 %1，有两个人的嘴唇随着他们的话而动</translation>
        </message>
        <message>
            <source>it was the basis of: %1</source>
            <translation>以下更正以它为基础：%1</translation>
        </message>
        <message>
            <source>a later correction</source>
            <translation>之后的一次更正</translation>
        </message>
        <message>
            <source>Undone</source>
            <translation>已撤销</translation>
        </message>
        <message>
            <source>Done again</source>
            <translation>已重做</translation>
        </message>
        <message>
            <source>Named %1 “%2”</source>
            <translation>已将 %1 命名为“%2”</translation>
        </message>
        <message>
            <source>Removed the name of %1</source>
            <translation>已去掉 %1 的名字</translation>
        </message>
        <message>
            <source>Gave %1 to %2</source>
            <translation>已将 %1 归给 %2</translation>
        </message>
        <message>
            <source>Merged %1 into %2, who keeps that name; %3 is another name now</source>
            <translation>已将 %1 并入 %2，保留该名字；%3 成为别名</translation>
        </message>
        <message>
            <source>Merged %1 and %2</source>
            <translation>已合并 %1 和 %2</translation>
        </message>
        <message>
            <source>Merged %1 into %2</source>
            <translation>已将 %1 并入 %2</translation>
        </message>
        <message>
            <source>Noted that %1 and %2 are two people</source>
            <translation>已记下 %1 和 %2 是两个人</translation>
        </message>
        <message>
            <source>Moved %1 from %2 to %3</source>
            <translation>已将 %1 从 %2 移到 %3</translation>
        </message>
        <message>
            <source>Noted that %1 is not %2</source>
            <translation>已记下 %1 不是 %2</translation>
        </message>
        <message>
            <source>Noted that %1 are not %2</source>
            <translation>已记下 %1 不是 %2</translation>
        </message>
        <message>
            <source>Set %1 aside</source>
            <translation>已排除 %1</translation>
        </message>
        <message>
            <source>Joined the face of %1 and the voice of %2</source>
            <translation>已将 %1 的脸与 %2 的声音关联</translation>
        </message>
        <message>
            <source>Separated the face of %1 from the voice of %2</source>
            <translation>已将 %1 的脸与 %2 的声音分开</translation>
        </message>
        <message>
            <source>Hid %1</source>
            <translation>已隐藏 %1</translation>
        </message>
        <message>
            <source>Showed %1 again</source>
            <translation>已重新显示 %1</translation>
        </message>
        <message>
            <source>Noted that %1 is not called “%2”</source>
            <translation>已记下 %1 不叫“%2”</translation>
        </message>
        <message>
            <source>Taken back: %1</source>
            <translation>已撤回：%1</translation>
        </message>
        <message>
            <source>a correction</source>
            <translation>一次更正</translation>
        </message>
        <message>
            <source>with it: %1</source>
            <translation>一并撤回：%1</translation>
        </message>
        <message>
            <source>Split %1 in two at %2</source>
            <translation>已在 %2 将 %1 分成两段</translation>
        </message>
        <message>
            <source>Set the time of %1 to %2–%3 s</source>
            <translation>已将 %1 的时间设为 %2–%3 秒</translation>
        </message>
        <message>
            <source>Confirmed the words of %1</source>
            <translation>已确认 %1 的文字</translation>
        </message>
        <message>
            <source>Corrected the words of %1 to “%2”</source>
            <translation>已将 %1 的文字改为“%2”</translation>
        </message>
        <message>
            <source>Added a face at %1, recognized as %2</source>
            <translation>已在 %1 添加人脸，识别为 %2</translation>
        </message>
        <message>
            <source>Added a face at %1</source>
            <translation>已在 %1 添加人脸</translation>
        </message>
        <message>
            <source>Added a memory</source>
            <translation>已添加一条记忆</translation>
        </message>
        <message>
            <source>Edited a memory</source>
            <translation>已编辑一条记忆</translation>
        </message>
        <message>
            <source>Rewrote a memory</source>
            <translation>已改写一条记忆</translation>
        </message>
        <message>
            <source>Deleted a memory</source>
            <translation>已删除一条记忆</translation>
        </message>
        <message>
            <source>Pinned or unpinned a memory</source>
            <translation>已固定或取消固定一条记忆</translation>
        </message>
        <message>
            <source>%1 about %2</source>
            <translation>%1（关于 %2）</translation>
        </message>
        <message>
            <source>this changes an earlier correction: %1</source>
            <translation>这改变了之前的一次更正：%1</translation>
        </message>
        <message>
            <source>Gave %1 of %2 to somebody new</source>
            <translation>把%2的%1归给了一位新人物</translation>
        </message>
    </context>
    <context>
        <name>SplitBoard</name>
        <message>
            <source>Separate people</source>
            <translation>拆分人物</translation>
        </message>
        <message>
            <source>Find words</source>
            <translation>查找文字</translation>
        </message>
        <message>
            <source>Find faces and voices by what is said about them</source>
            <translation>按相关文字查找人脸和声音</translation>
        </message>
        <message>
            <source>Fill in the suggestion</source>
            <translation>填入建议</translation>
        </message>
        <message>
            <source>Another person</source>
            <translation>再加一人</translation>
        </message>
        <message>
            <source>Separate</source>
            <translation>拆分</translation>
        </message>
        <message>
            <source>Separate %1</source>
            <translation>拆分 %1</translation>
        </message>
        <message>
            <source>Select what belongs to one person, then move it: with a button, by dragging, or by Space. Enter plays.</source>
            <translation>选中属于同一个人的内容，然后用按钮、拖动或空格键移动。回车键播放。</translation>
        </message>
        <message>
            <source>%1 in a sentence is the face or voice that it stands beside.</source>
            <translation>句子中的 %1 指旁边的人脸或声音。</translation>
        </message>
        <message>
            <source>Stays this person</source>
            <translation>仍是此人</translation>
        </message>
        <message>
            <source>Choose who this is; somebody new if you choose nobody</source>
            <translation>选择这是谁；不选则为新的人</translation>
        </message>
        <message>
            <source>Move here (Ctrl+%1)</source>
            <translation>移到这里（Ctrl+%1）</translation>
        </message>
        <message>
            <source>Move what is selected to %1</source>
            <translation>将选中内容移到 %1</translation>
        </message>
        <message>
            <source>Somebody new (%1)</source>
            <translation>新的人（%1）</translation>
        </message>
        <message>
            <source>nothing yet</source>
            <translation>还没有</translation>
        </message>
        <message>
            <source>This is…</source>
            <translation>这是…</translation>
        </message>
        <message>
            <source>Who is this?</source>
            <translation>这是谁？</translation>
        </message>
    </context>
    <context>
        <name>MiniMap</name>
        <message>
            <source>Mini-map</source>
            <translation>小地图</translation>
        </message>
        <message>
            <source>Mini-map: click, drag or use the arrow keys to go there (O hides it)</source>
            <translation>小地图：点击、拖动或用方向键前往（O 键隐藏）</translation>
        </message>
    </context>
    <context>
        <name>SelectionBar</name>
        <message>
            <source>%1 selected</source>
            <translation>已选 %1 个</translation>
        </message>
        <message>
            <source>Selected nodes</source>
            <translation>所选节点</translation>
        </message>
        <message>
            <source>Merge (M)</source>
            <translation>合并 (M)</translation>
        </message>
        <message>
            <source>Path (T)</source>
            <translation>路径 (T)</translation>
        </message>
        <message>
            <source>Expand (E)</source>
            <translation>展开 (E)</translation>
        </message>
        <message>
            <source>Clear (Esc)</source>
            <translation>清除 (Esc)</translation>
        </message>
        <message>
            <source>Ask whether the selected people are one person</source>
            <translation>询问所选人物是否为同一人</translation>
        </message>
        <message>
            <source>Show a shortest path between the two</source>
            <translation>显示两者之间的最短路径</translation>
        </message>
        <message>
            <source>Show all that they are linked to</source>
            <translation>显示与它们相连的全部内容</translation>
        </message>
        <message>
            <source>Select nothing</source>
            <translation>取消选择</translation>
        </message>
    </context>
    <context>
        <name>Merging</name>
        <message>
            <source>This changes: %1. You can undo it.</source>
            <translation>这会改变：%1。可以撤销。</translation>
        </message>
        <message>
            <source>Are %1 and %2 one person?</source>
            <translation>%1和%2是同一个人吗？</translation>
        </message>
        <message>
            <source>Are these %1 people one person?</source>
            <translation>这 %1 个人物是同一个人吗？</translation>
        </message>
        <message>
            <source>Also: %1</source>
            <translation>还有：%1</translation>
        </message>
        <message>
            <source>Same person</source>
            <translation>同一个人</translation>
        </message>
        <message>
            <source>Yes, keep “%1”</source>
            <translation>是，保留“%1”</translation>
        </message>
    </context>
    <context>
        <name>PastBar</name>
        <message>
            <source>Earlier state</source>
            <translation>较早的状态</translation>
        </message>
        <message>
            <source>Return to now</source>
            <translation>返回现在</translation>
        </message>
        <message>
            <source>%1 Read-only.</source>
            <translation>%1 只读。</translation>
        </message>
    </context>
    <context>
        <name>DateDialog</name>
        <message>
            <source>As believed on a date</source>
            <translation>某一日期时的认识</translation>
        </message>
        <message>
            <source>Date and time</source>
            <translation>日期和时间</translation>
        </message>
        <message>
            <source>Corrections</source>
            <translation>更正</translation>
        </message>
        <message>
            <source>Show</source>
            <translation>显示</translation>
        </message>
        <message>
            <source>Show what was believed at this time:</source>
            <translation>显示当时的认识：</translation>
        </message>
        <message>
            <source>or before one of these corrections:</source>
            <translation>或以下某次更正之前：</translation>
        </message>
    </context>
    <context>
        <name>GraphPast</name>
        <message>
            <source>As believed on %1.</source>
            <translation>%1 时的认识。</translation>
        </message>
    </context>
    <context>
        <name>BackendRow</name>
        <message>
            <source>%1 to download, %2 on disk</source>
            <translation>下载 %1，占用磁盘 %2</translation>
        </message>
        <message>
            <source>Remove</source>
            <translation>移除</translation>
        </message>
        <message>
            <source>not installed</source>
            <translation>未安装</translation>
        </message>
        <message>
            <source>in work</source>
            <translation>进行中</translation>
        </message>
        <message>
            <source>interrupted</source>
            <translation>已中断</translation>
        </message>
        <message>
            <source>ready</source>
            <translation>就绪</translation>
        </message>
        <message>
            <source>ready, other versions</source>
            <translation>就绪，但版本不同</translation>
        </message>
        <message>
            <source>damaged</source>
            <translation>已损坏</translation>
        </message>
        <message>
            <source>in the app's own environment</source>
            <translation>在应用自己的环境中</translation>
        </message>
        <message>
            <source>Stop</source>
            <translation>停止</translation>
        </message>
        <message>
            <source>Continue …</source>
            <translation>继续 …</translation>
        </message>
        <message>
            <source>Install …</source>
            <translation>安装 …</translation>
        </message>
    </context>
    <context>
        <name>BackendsList</name>
        <message>
            <source>Backends with an environment of their own</source>
            <translation>使用独立环境的后端</translation>
        </message>
        <message>
            <source>%1 to download, %2 on disk, in an environment of its own.
Licences: %3</source>
            <translation>下载 %1，占用磁盘 %2，安装在独立环境中。
许可证：%3</translation>
        </message>
        <message>
            <source>Install %1?</source>
            <translation>安装 %1？</translation>
        </message>
        <message>
            <source>Install</source>
            <translation>安装</translation>
        </message>
        <message>
            <source>It can be installed again. Memories are not changed.</source>
            <translation>可以重新安装。记忆不会改变。</translation>
        </message>
        <message>
            <source>Remove %1 from this machine?</source>
            <translation>从本机移除 %1？</translation>
        </message>
        <message>
            <source>Remove</source>
            <translation>移除</translation>
        </message>
        <message>
            <source>Backends</source>
            <translation>后端</translation>
        </message>
    </context>
    <context>
        <name>Exports</name>
        <message>
            <source>Choose another folder.</source>
            <translation>请选择另一个文件夹。</translation>
        </message>
        <message>
            <source>Could not write %1</source>
            <translation>无法写入 %1</translation>
        </message>
        <message>
            <source>Pictures (*.png)</source>
            <translation>图片 (*.png)</translation>
        </message>
        <message>
            <source>Save as a drawing (SVG)…</source>
            <translation>保存为矢量图 (SVG)…</translation>
        </message>
        <message>
            <source>Save as a graph (GraphML)…</source>
            <translation>保存为图数据 (GraphML)…</translation>
        </message>
        <message>
            <source>Save as a picture</source>
            <translation>保存为图片</translation>
        </message>
        <message>
            <source>Save as a picture (PNG)…</source>
            <translation>保存为图片 (PNG)…</translation>
        </message>
        <message>
            <source>Save what is on show</source>
            <translation>保存当前显示的内容</translation>
        </message>
        <message>
            <source>Saved %1</source>
            <translation>已保存 %1</translation>
        </message>
        <message>
            <source>graph.png</source>
            <translation>图.png</translation>
        </message>
    </context>
    <context>
        <name>Earlier</name>
        <message>
            <source>%1 Nothing was in the memory yet.</source>
            <translation>%1 当时记忆中还没有任何内容。</translation>
        </message>
        <message>
            <source>As believed on a date…</source>
            <translation>某一日期时的认识…</translation>
        </message>
        <message>
            <source>As known up to %1.</source>
            <translation>截至 %1 所知。</translation>
        </message>
        <message>
            <source>Hide what was learned after the moment that the video shows</source>
            <translation>隐藏视频当前时刻之后才得知的内容</translation>
        </message>
        <message>
            <source>Known up to here</source>
            <translation>截至此处所知</translation>
        </message>
        <message>
            <source>Return to now</source>
            <translation>返回现在</translation>
        </message>
    </context>
    <context>
        <name>RelationsView</name>
        <message>
            <source>People remembered together with this person</source>
            <translation>与此人一起出现在记忆中的人</translation>
        </message>
        <message>
            <source>People remembered together with this person, as a graph; the list below says the same</source>
            <translation>与此人一起出现在记忆中的人（图）；下面的列表内容相同</translation>
        </message>
        <message>
            <source>No memory tells of this person together with somebody else.</source>
            <translation>没有同时提到此人和他人的记忆。</translation>
        </message>
        <message>
            <source>1 memory together</source>
            <translation>1 条共同记忆</translation>
        </message>
        <message>
            <source>%1 memories together</source>
            <translation>%1 条共同记忆</translation>
        </message>
    </context>
    <context>
        <name>VersionsDialog</name>
        <message>
            <source>Two writers of one clip</source>
            <translation>同一片段的两位撰写者</translation>
        </message>
        <message>
            <source>Writer</source>
            <translation>撰写者</translation>
        </message>
        <message>
            <source>Write again</source>
            <translation>重新撰写</translation>
        </message>
        <message>
            <source>Have this clip written by</source>
            <translation>由谁撰写此片段</translation>
        </message>
        <message>
            <source>Sentences now</source>
            <translation>现在的句子</translation>
        </message>
        <message>
            <source>Sentences of the other writer</source>
            <translation>另一位撰写者的句子</translation>
        </message>
        <message>
            <source>Use the new sentences…</source>
            <translation>使用新句子…</translation>
        </message>
        <message>
            <source>Drop them</source>
            <translation>丢弃新句子</translation>
        </message>
        <message>
            <source>Rules, without a model</source>
            <translation>规则（不用模型）</translation>
        </message>
        <message>
            <source>Now: %1</source>
            <translation>现在：%1</translation>
        </message>
        <message>
            <source>New: %1</source>
            <translation>新的：%1</translation>
        </message>
        <message>
            <source>This clip was not written again yet.</source>
            <translation>此片段尚未重新撰写。</translation>
        </message>
        <message>
            <source>The clip is being written again; this can take minutes. What is in force does not change.</source>
            <translation>正在重新撰写此片段，可能需要几分钟。现有的内容不会改变。</translation>
        </message>
        <message>
            <source>Use the new sentences in place of those of now?</source>
            <translation>用新句子代替现在的句子？</translation>
        </message>
        <message>
            <source>Sentences that you edited, pinned or added stay, and those that knowledge rests on. You can undo this.</source>
            <translation>您编辑、固定或添加的句子以及知识所依据的句子会保留。此操作可以撤销。</translation>
        </message>
        <message>
            <source>Use them</source>
            <translation>使用</translation>
        </message>
    </context>
    <context>
        <name>Search</name>
        <message>
            <source>Clip %1</source>
            <translation>片段 %1</translation>
        </message>
        <message>
            <source>similarity %1</source>
            <translation>相似度 %1</translation>
        </message>
        <message>
            <source>Bookmark</source>
            <translation>书签</translation>
        </message>
    </context>
    <context>
        <name>SearchPalette</name>
        <message>
            <source>Searching …</source>
            <translation>正在搜索…</translation>
        </message>
        <message>
            <source>Memories of similar meaning</source>
            <translation>意思相近的记忆</translation>
        </message>
        <message>
            <source>Search everywhere</source>
            <translation>搜索全部内容</translation>
        </message>
        <message>
            <source>People, memories, words spoken, bookmarks, clips, times, actions</source>
            <translation>人物、记忆、说过的话、书签、片段、时间、操作</translation>
        </message>
        <message>
            <source>By a picture or voice…</source>
            <translation>按图片或声音…</translation>
        </message>
        <message>
            <source>Find the people in a picture or a recording; you can also drop the file here</source>
            <translation>查找图片或录音中的人；也可以把文件拖到这里</translation>
        </message>
        <message>
            <source>What was found</source>
            <translation>搜索结果</translation>
        </message>
        <message>
            <source>How many were found</source>
            <translation>结果数量</translation>
        </message>
        <message>
            <source>Pictures and recordings</source>
            <translation>图片和录音</translation>
        </message>
        <message>
            <source>All files</source>
            <translation>所有文件</translation>
        </message>
        <message>
            <source>Find the people in a picture or a recording</source>
            <translation>查找图片或录音中的人</translation>
        </message>
        <message>
            <source>Searching the people in %1 …</source>
            <translation>正在查找 %1 中的人…</translation>
        </message>
        <message>
            <source>Nobody in %1 is known to this memory.</source>
            <translation>这个记忆不认识 %1 中的任何人。</translation>
        </message>
        <message>
            <source>People</source>
            <translation>人物</translation>
        </message>
        <message>
            <source>Memories</source>
            <translation>记忆</translation>
        </message>
        <message>
            <source>Words spoken</source>
            <translation>说过的话</translation>
        </message>
        <message>
            <source>Clips</source>
            <translation>片段</translation>
        </message>
        <message>
            <source>Actions</source>
            <translation>操作</translation>
        </message>
        <message>
            <source>Enter goes there; a time such as 1:20 is a place too. Drop a picture or a recording to find who is in it.</source>
            <translation>按回车前往；也可以输入时间，例如 1:20。拖入图片或录音可查找其中的人。</translation>
        </message>
        <message>
            <source>%n found</source>
            <translation>找到 %n 项</translation>
        </message>
        <message>
            <source>Bookmarks</source>
            <translation>书签</translation>
        </message>
    </context>
    <context>
        <name>Problems</name>
        <message>
            <source>Damaged</source>
            <translation>已损坏</translation>
        </message>
        <message>
            <source>Unfinished forgetting</source>
            <translation>未完成的遗忘</translation>
        </message>
        <message>
            <source>Many faces or voices</source>
            <translation>面孔或声音过多</translation>
        </message>
        <message>
            <source>Face and voice of two people</source>
            <translation>面孔和声音属于两个人</translation>
        </message>
        <message>
            <source>Known from one clip</source>
            <translation>只在一个片段中出现</translation>
        </message>
        <message>
            <source>Belongs to nobody</source>
            <translation>不属于任何人</translation>
        </message>
        <message>
            <source>Older model</source>
            <translation>较旧的模型</translation>
        </message>
        <message>
            <source>Refers to nobody</source>
            <translation>没有指向任何人</translation>
        </message>
        <message>
            <source>Memorized out of order</source>
            <translation>记忆顺序错乱</translation>
        </message>
        <message>
            <source>Correction without its evidence</source>
            <translation>缺少依据的更正</translation>
        </message>
        <message>
            <source>Split or join, as the question proposes</source>
            <translation>按问题的建议拆分或合并</translation>
        </message>
        <message>
            <source>Make a person of their own</source>
            <translation>设为单独的人物</translation>
        </message>
        <message>
            <source>Separate face and voice</source>
            <translation>将面孔与声音分开</translation>
        </message>
        <message>
            <source>Hide this person</source>
            <translation>隐藏此人物</translation>
        </message>
        <message>
            <source>Set it aside</source>
            <translation>搁置</translation>
        </message>
        <message>
            <source>Write “someone” instead</source>
            <translation>改写为“某人”</translation>
        </message>
        <message>
            <source>Delete this conclusion</source>
            <translation>删除这个结论</translation>
        </message>
        <message>
            <source>Take the correction back</source>
            <translation>撤回该更正</translation>
        </message>
    </context>
    <context>
        <name>ProblemsDialog</name>
        <message>
            <source>The chosen problem</source>
            <translation>选中的问题</translation>
        </message>
        <message>
            <source>Problems</source>
            <translation>问题</translation>
        </message>
        <message>
            <source>Result of the check</source>
            <translation>检查结果</translation>
        </message>
        <message>
            <source>Problem</source>
            <translation>问题</translation>
        </message>
        <message>
            <source>Evidence</source>
            <translation>依据</translation>
        </message>
        <message>
            <source>What mends it</source>
            <translation>修正方法</translation>
        </message>
        <message>
            <source>Problems of this memory</source>
            <translation>此记忆中的问题</translation>
        </message>
        <message>
            <source>Mend…</source>
            <translation>修正…</translation>
        </message>
        <message>
            <source>Shows first what it would change; it can be undone (Enter)</source>
            <translation>先显示会改变什么；可以撤销（回车）</translation>
        </message>
        <message>
            <source>Check again</source>
            <translation>重新检查</translation>
        </message>
        <message>
            <source>Checking the memory …</source>
            <translation>正在检查记忆…</translation>
        </message>
        <message>
            <source>Part of this memory is damaged. “m3desk check --repair” rebuilds what can be rebuilt.</source>
            <translation>此记忆有部分损坏。“m3desk check --repair” 会重建可以重建的部分。</translation>
        </message>
        <message>
            <source>The memory is whole. Worth a look: %1.</source>
            <translation>记忆完整。值得查看：%1 处。</translation>
        </message>
        <message>
            <source>The memory is whole, and nothing in it looks wrong.</source>
            <translation>记忆完整，没有发现问题。</translation>
        </message>
        <message>
            <source>Mend a problem</source>
            <translation>修正问题</translation>
        </message>
        <message>
            <source>Mend</source>
            <translation>修正</translation>
        </message>
    </context>
    <context>
        <name>SearchField</name>
        <message>
            <source>Clear</source>
            <translation>清空</translation>
        </message>
    </context>
    <context>
        <name>MoreButton</name>
        <message>
            <source>More</source>
            <translation>更多</translation>
        </message>
    </context>
    <context>
        <name>Group</name>
        <message>
            <source>Faces and voices</source>
            <translation>人脸和声音</translation>
        </message>
        <message>
            <source>Who is this?</source>
            <translation>这是谁？</translation>
        </message>
        <message>
            <source>Move here</source>
            <translation>移到这里</translation>
        </message>
    </context>
    <context>
        <name>ProfileCard</name>
        <message>
            <source>Fits this machine.</source>
            <translation>适合这台机器。</translation>
        </message>
        <message>
            <source>Its models take turns on the graphics card, because they do not fit on it together.</source>
            <translation>它的模型轮流使用显卡，因为显存不够同时容纳它们。</translation>
        </message>
        <message>
            <source>It needs a graphics card with %1, and none is seen.</source>
            <translation>它需要 %1 显存的显卡，但没有找到显卡。</translation>
        </message>
        <message>
            <source>It needs %1 on one graphics card; %3 has %2.</source>
            <translation>它需要一块显卡有 %1 显存；%3 有 %2。</translation>
        </message>
        <message>
            <source>It needs %1 on the graphics card; of %3, %2 are free now. End what uses it.</source>
            <translation>它需要 %1 显存；%3 现在空闲 %2。请结束占用显卡的程序。</translation>
        </message>
        <message>
            <source>It needs %1 of memory; %2 are free now.</source>
            <translation>它需要 %1 内存；现在空闲 %2。</translation>
        </message>
        <message>
            <source>It needs a graphics card, and the installed build of %3 sees none.</source>
            <translation>它需要显卡，但已安装的 %3 没有找到显卡。</translation>
        </message>
        <message>
            <source>The next smaller choice is %1.</source>
            <translation>下一个较小的选择是 %1。</translation>
        </message>
        <message>
            <source>Does not fit this machine.</source>
            <translation>不适合这台机器。</translation>
        </message>
        <message>
            <source>Models …</source>
            <translation>模型…</translation>
        </message>
        <message>
            <source>Download what is not here yet</source>
            <translation>下载还没有的模型</translation>
        </message>
        <message>
            <source>Checking this machine …</source>
            <translation>正在检查这台机器…</translation>
        </message>
        <message>
            <source>Could not check this machine: %1</source>
            <translation>无法检查这台机器：%1</translation>
        </message>
        <message>
            <source>Nothing leaves this machine.</source>
            <translation>没有任何数据离开这台机器。</translation>
        </message>
        <message>
            <source>Choose %1</source>
            <translation>选择 %1</translation>
        </message>
        <message>
            <source>Nothing needs to be downloaded.</source>
            <translation>无需下载任何东西。</translation>
        </message>
        <message>
            <source>%1 (%2)</source>
            <translation>%1（%2）</translation>
        </message>
        <message>
            <source>To download: %1.</source>
            <translation>需要下载：%1。</translation>
        </message>
        <message>
            <source>%1 (%2 of %3 free, driver %4)</source>
            <translation>%1（空闲 %2，共 %3，驱动 %4）</translation>
        </message>
        <message>
            <source>No graphics card is seen</source>
            <translation>没有找到显卡</translation>
        </message>
        <message>
            <source>%1 sees: %2</source>
            <translation>%1 找到：%2</translation>
        </message>
    </context>
    <context>
        <name>ServerFields</name>
        <message>
            <source>the only one it has</source>
            <translation>它唯一的模型</translation>
        </message>
        <message>
            <source>unchanged; kept in the system's keyring</source>
            <translation>不变；保存在系统钥匙串中</translation>
        </message>
        <message>
            <source>Address</source>
            <translation>地址</translation>
        </message>
        <message>
            <source>Its model</source>
            <translation>模型</translation>
        </message>
        <message>
            <source>Key</source>
            <translation>密钥</translation>
        </message>
        <message>
            <source>The key is in the system's keyring.</source>
            <translation>密钥已保存到系统钥匙串。</translation>
        </message>
    </context>
    <context>
        <name>ImportStrip</name>
        <message>
            <source>Progress of the import</source>
            <translation>导入的进度</translation>
        </message>
        <message>
            <source>Cancel</source>
            <translation>取消</translation>
        </message>
        <message>
            <source>Cancel the import</source>
            <translation>取消导入</translation>
        </message>
        <message>
            <source>Stop the import; nothing of it is kept</source>
            <translation>停止导入；不会保留任何内容</translation>
        </message>
        <message>
            <source>Importing %1 …</source>
            <translation>正在导入 %1……</translation>
        </message>
        <message>
            <source>Importing %1</source>
            <translation>正在导入 %1</translation>
        </message>
        <message>
            <source>%1 left</source>
            <translation>还剩 %1</translation>
        </message>
    </context>
    <context>
        <name>Importing</name>
        <message>
            <source>%1 was imported before it could be stopped.</source>
            <translation>%1 在停止之前已经导入完成。</translation>
        </message>
        <message>
            <source>Another file is being imported; try again when it is whole.</source>
            <translation>正在导入另一个文件；请等它完成后再试。</translation>
        </message>
        <message>
            <source>%1 was imported before.</source>
            <translation>%1 以前导入过。</translation>
        </message>
        <message>
            <source>Open that memory, with everything that was corrected in it, or import the file once more as a new memory?</source>
            <translation>打开那个记忆（包括其中的所有更正），还是把该文件再导入为一个新的记忆？</translation>
        </message>
        <message>
            <source>Import a memory</source>
            <translation>导入记忆</translation>
        </message>
        <message>
            <source>Open that memory</source>
            <translation>打开那个记忆</translation>
        </message>
        <message>
            <source>Import once more</source>
            <translation>再导入一次</translation>
        </message>
        <message>
            <source>Stopping …</source>
            <translation>正在停止……</translation>
        </message>
        <message>
            <source>Imported %1 clips, %2 people and %3 memories.</source>
            <translation>已导入 %1 个片段、%2 个人物和 %3 条记忆。</translation>
        </message>
        <message>
            <source>Its video is not part of the file.</source>
            <translation>该文件不包含视频。</translation>
        </message>
        <message>
            <source>Locate the video…</source>
            <translation>定位视频…</translation>
        </message>
        <message>
            <source>The import was stopped; nothing of it is kept.</source>
            <translation>导入已停止；没有保留任何内容。</translation>
        </message>
        <message>
            <source>Memories to import</source>
            <translation>可导入的记忆</translation>
        </message>
        <message>
            <source>All files</source>
            <translation>所有文件</translation>
        </message>
    </context>
    <context>
        <name>Bookmarks</name>
        <message>
            <source>There is no picture to bookmark yet; try again once the video is shown.</source>
            <translation>还没有可以添加书签的画面；请在视频显示后再试。</translation>
        </message>
        <message>
            <source>Bookmark</source>
            <translation>书签</translation>
        </message>
        <message>
            <source>Note at %1:</source>
            <translation>%1 处的笔记：</translation>
        </message>
    </context>
    <context>
        <name>BookmarksDialog</name>
        <message>
            <source>Bookmarks</source>
            <translation>书签</translation>
        </message>
        <message>
            <source>Find in notes</source>
            <translation>在笔记中查找</translation>
        </message>
        <message>
            <source>Time</source>
            <translation>时间</translation>
        </message>
        <message>
            <source>Note</source>
            <translation>笔记</translation>
        </message>
        <message>
            <source>Source</source>
            <translation>来源</translation>
        </message>
        <message>
            <source>Go there</source>
            <translation>转到此处</translation>
        </message>
        <message>
            <source>Note…</source>
            <translation>笔记…</translation>
        </message>
        <message>
            <source>Remove</source>
            <translation>删除</translation>
        </message>
        <message>
            <source>Show this moment (Enter)</source>
            <translation>显示这一时刻（Enter）</translation>
        </message>
        <message>
            <source>Change the note (F2)</source>
            <translation>修改笔记（F2）</translation>
        </message>
        <message>
            <source>Remove this bookmark; Undo brings it back (Delete)</source>
            <translation>删除此书签；撤销可恢复（Delete）</translation>
        </message>
        <message>
            <source>(removed)</source>
            <translation>（已移除）</translation>
        </message>
        <message>
            <source>No note contains these words.</source>
            <translation>没有包含这些词的笔记。</translation>
        </message>
        <message>
            <source>No bookmarks yet. B marks the moment that the picture shows, or the span that is chosen on the timeline.</source>
            <translation>还没有书签。按 B 标记画面所示的时刻，或时间轴上选定的时段。</translation>
        </message>
    </context>
    <context>
        <name>Findings</name>
        <message>
            <source>%1 has %2 faces and %3 voices</source>
            <translation>%1有 %2 张脸和 %3 个声音</translation>
        </message>
        <message>
            <source>%1; one face and one voice are joined by little evidence (%2)</source>
            <translation>%1；其中一张脸和一个声音的关联证据很少（%2）</translation>
        </message>
        <message>
            <source>A face and a voice are taken for one person, but sentences of %1 clips speak of two</source>
            <translation>一张脸和一个声音被当作同一个人，但有 %1 个片段的语句说的是两个人</translation>
        </message>
        <message>
            <source>%1 is known from %2 alone</source>
            <translation>%1只出现在%2中</translation>
        </message>
        <message>
            <source>Nothing speaks of this %1</source>
            <translation>没有任何语句提到这个%1</translation>
        </message>
        <message>
            <source>A memory names %1, which refers to nobody</source>
            <translation>一条记忆提到 %1，但它不指任何人</translation>
        </message>
        <message>
            <source>%1 was memorized after %2: its conclusions (%3) may rest on later clips</source>
            <translation>%1在%2之后才被记忆：它的 %3 条结论可能依据了后面的片段</translation>
        </message>
        <message>
            <source>A memory speaks of a face that is nobody's</source>
            <translation>一条记忆提到一张不属于任何人的脸</translation>
        </message>
        <message>
            <source>Forgetting was begun and is not finished: traces of what was forgotten may be left in this memory's files</source>
            <translation>遗忘操作开始了但没有完成：这份记忆的文件里可能还留有应被遗忘的内容</translation>
        </message>
        <message>
            <source>This memory recognises voices with an older model than new memories use</source>
            <translation>这份记忆识别声音所用的模型比新记忆所用的旧</translation>
        </message>
        <message>
            <source>This memory recognises faces with an older model than new memories use</source>
            <translation>这份记忆识别人脸所用的模型比新记忆所用的旧</translation>
        </message>
        <message>
            <source>clip %1</source>
            <translation>片段 %1</translation>
        </message>
    </context>
    <context>
        <name>PersonMenu</name>
        <message>
            <source>Teach from photos or speech…</source>
            <translation>用照片或语音教会识别…</translation>
        </message>
        <message>
            <source>Face and voice…</source>
            <translation>人脸与声音…</translation>
        </message>
        <message>
            <source>Whose face and voice?</source>
            <translation>谁的人脸与声音？</translation>
        </message>
        <message>
            <source>Forget…</source>
            <translation>遗忘…</translation>
        </message>
        <message>
            <source>Who is to be forgotten?</source>
            <translation>要遗忘谁？</translation>
        </message>
        <message>
            <source>Choose a person</source>
            <translation>选择人物</translation>
        </message>
    </context>
    <context>
        <name>ForgetPerson</name>
        <message>
            <source>Forget a person</source>
            <translation>遗忘人物</translation>
        </message>
        <message>
            <source>Forget %1 for good?</source>
            <translation>永久遗忘 %1？</translation>
        </message>
        <message>
            <source>Forget. Seen again, they are somebody new.</source>
            <translation>遗忘。再次出现时会被当作新人物。</translation>
        </message>
        <message>
            <source>Forget, and never remember them again. One template of face and voice is kept for that.</source>
            <translation>遗忘，并且以后不再记住此人。为此会保留一份人脸和声音模板。</translation>
        </message>
        <message>
            <source>Forget, with everything else that was remembered while they were there.</source>
            <translation>遗忘，并删除此人在场时记住的其他一切内容。</translation>
        </message>
        <message>
            <source>Also remove the sources that show them from this memory</source>
            <translation>同时从这个记忆中移除出现此人的来源</translation>
        </message>
        <message>
            <source>What is deleted</source>
            <translation>将删除的内容</translation>
        </message>
        <message>
            <source>This can't be undone. Afterwards every file of the memory is searched for traces of them.</source>
            <translation>此操作无法撤销。之后会在记忆的所有文件中搜索此人的痕迹。</translation>
        </message>
        <message>
            <source>Forgetting, and searching for traces</source>
            <translation>正在遗忘并搜索痕迹</translation>
        </message>
        <message>
            <source>Forget</source>
            <translation>遗忘</translation>
        </message>
        <message>
            <source>Cancel</source>
            <translation>取消</translation>
        </message>
        <message>
            <source>Checking what would be deleted …</source>
            <translation>正在检查将删除的内容……</translation>
        </message>
        <message>
            <source>This would be deleted:</source>
            <translation>将删除：</translation>
        </message>
        <message>
            <source>The files themselves stay where they are, and still show or let hear them: %1</source>
            <translation>文件本身保留在原处，其中仍能看到或听到此人：%1</translation>
        </message>
        <message>
            <source>Forgetting, and searching every file of the memory for traces …</source>
            <translation>正在遗忘，并在记忆的所有文件中搜索痕迹……</translation>
        </message>
        <message>
            <source>Close</source>
            <translation>关闭</translation>
        </message>
        <message>
            <source>Forgotten.</source>
            <translation>已遗忘。</translation>
        </message>
        <message>
            <source>Forgotten, but something is left.</source>
            <translation>已遗忘，但还有残留。</translation>
        </message>
        <message>
            <source>Your own backups and exports, and the files themselves, are not reached.</source>
            <translation>您自己的备份和导出文件，以及视频文件本身，不受影响。</translation>
        </message>
        <message>
            <source>Deleted:</source>
            <translation>已删除：</translation>
        </message>
        <message>
            <source>Still shown or heard in: %1</source>
            <translation>仍能在以下文件中看到或听到：%1</translation>
        </message>
        <message>
            <source>These look or sound alike. If they are the same person, forget that person, too:</source>
            <translation>以下内容看起来或听起来相似。如果是同一个人，请也遗忘该人物：</translation>
        </message>
        <message>
            <source>nobody's</source>
            <translation>不属于任何人</translation>
        </message>
        <message>
            <source>Searched %1 tables, %2 files (%3), %4 pictures and %5 sounds:</source>
            <translation>已搜索 %1 个表、%2 个文件（%3）、%4 张图片和 %5 段声音：</translation>
        </message>
        <message>
            <source>nothing of them is left.</source>
            <translation>没有任何残留。</translation>
        </message>
        <message>
            <source>this is left:</source>
            <translation>残留如下：</translation>
        </message>
        <message>
            <source>faces and utterances: %1</source>
            <translation>人脸和话语：%1</translation>
        </message>
        <message>
            <source>memories that rest on them: %1</source>
            <translation>以此人为依据的记忆：%1</translation>
        </message>
        <message>
            <source>pictures and sounds: %1</source>
            <translation>图片和声音：%1</translation>
        </message>
        <message>
            <source>names: %1</source>
            <translation>名字：%1</translation>
        </message>
        <message>
            <source>corrections that name them, emptied and final from then on: %1</source>
            <translation>提到此人的更正（内容被清空，之后不能再撤销）：%1</translation>
        </message>
        <message>
            <source>questions and answers about them: %1</source>
            <translation>关于此人的问答：%1</translation>
        </message>
        <message>
            <source>and %1 more</source>
            <translation>还有 %1 项</translation>
        </message>
    </context>
    <context>
        <name>Sureness</name>
        <message>
            <source>%1 that all of this is one person</source>
            <translation>%1这些都属于同一个人</translation>
        </message>
        <message>
            <source>How sure it is that this is one person</source>
            <translation>属于同一个人的把握</translation>
        </message>
        <message>
            <source>fits least:</source>
            <translation>最不像的：</translation>
        </message>
        <message>
            <source>The mean probability that two of these faces, or two of these utterances, are of one person, by how alike they are.</source>
            <translation>根据相似程度，这些人脸（或这些话语）两两属于同一个人的平均概率。</translation>
        </message>
        <message>
            <source>%1 pairs compared. A click on a time shows it with why it was taken for this person.</source>
            <translation>比较了 %1 对。点击时间可查看它以及为何被认作此人。</translation>
        </message>
        <message>
            <source>Very sure</source>
            <translation>非常确定</translation>
        </message>
        <message>
            <source>Sure</source>
            <translation>确定</translation>
        </message>
        <message>
            <source>Fairly sure</source>
            <translation>比较确定</translation>
        </message>
        <message>
            <source>Not sure</source>
            <translation>不确定</translation>
        </message>
    </context>
    <context>
        <name>KeptApart</name>
        <message>
            <source>Who is kept apart</source>
            <translation>被区分开的人</translation>
        </message>
        <message>
            <source>These are never taken for one person, because you said so.</source>
            <translation>因为您的说明，这些人物永远不会被当作同一个人。</translation>
        </message>
        <message>
            <source>People who are seen in one picture together are kept apart by themselves, and not listed.</source>
            <translation>同时出现在一个画面中的人会自动区分开，不在此列出。</translation>
        </message>
        <message>
            <source>One</source>
            <translation>一方</translation>
        </message>
        <message>
            <source>The other</source>
            <translation>另一方</translation>
        </message>
        <message>
            <source>Because</source>
            <translation>原因</translation>
        </message>
        <message>
            <source>Since</source>
            <translation>时间</translation>
        </message>
        <message>
            <source>People who are kept apart</source>
            <translation>被区分开的人物</translation>
        </message>
        <message>
            <source>Nobody is kept apart. A “No” to “the same person?”, a split, or “not their voice” does it.</source>
            <translation>没有被区分开的人物。对“是同一个人吗？”回答“否”、拆分，或“不是此人的声音”会把人物区分开。</translation>
        </message>
        <message>
            <source>Take back…</source>
            <translation>撤回…</translation>
        </message>
        <message>
            <source>They may be one person again; shows first what that changes, and can be undone (Enter)</source>
            <translation>之后他们又可能被当作同一个人；会先显示会改变什么，并且可以撤销（回车）</translation>
        </message>
        <message>
            <source>(%1) %2</source>
            <translation>（%1）%2</translation>
        </message>
        <message>
            <source>Take back “%1”?</source>
            <translation>撤回“%1”？</translation>
        </message>
        <message>
            <source>Take back</source>
            <translation>撤回</translation>
        </message>
        <message>
            <source>replaced by a later correction</source>
            <translation>已被之后的更正取代</translation>
        </message>
        <message>
            <source>its evidence is missing now</source>
            <translation>目前缺少依据</translation>
        </message>
    </context>
    <context>
        <name>TeachPerson</name>
        <message>
            <source>To teach a face or words of this video, click them there and choose “This is…”.</source>
            <translation>若要用这个视频里的人脸或话语，请在视频或文字记录中点击它，再选择“这是…”。</translation>
        </message>
        <message>
            <source>Teach a person</source>
            <translation>教会识别人物</translation>
        </message>
        <message>
            <source>From a photo (one face) or a recording (one voice), somebody is recognised from now on.</source>
            <translation>提供一张照片（一张脸）或一段录音（一个声音），之后即可识别此人。</translation>
        </message>
        <message>
            <source>Name</source>
            <translation>名字</translation>
        </message>
        <message>
            <source>Name of the person</source>
            <translation>人物的名字</translation>
        </message>
        <message>
            <source>Photos and recordings</source>
            <translation>照片和录音</translation>
        </message>
        <message>
            <source>Drop photos and recordings here.</source>
            <translation>把照片和录音拖到这里。</translation>
        </message>
        <message>
            <source>Add files…</source>
            <translation>添加文件…</translation>
        </message>
        <message>
            <source>Remove</source>
            <translation>移除</translation>
        </message>
        <message>
            <source>Take the selected files from this list (Delete)</source>
            <translation>从列表中移除选中的文件（Delete 键）</translation>
        </message>
        <message>
            <source>What went wrong</source>
            <translation>出错原因</translation>
        </message>
        <message>
            <source>Looking at the files</source>
            <translation>正在查看文件</translation>
        </message>
        <message>
            <source>Teach</source>
            <translation>教会识别</translation>
        </message>
        <message>
            <source>Pictures and recordings</source>
            <translation>图片和录音</translation>
        </message>
        <message>
            <source>All files</source>
            <translation>所有文件</translation>
        </message>
        <message>
            <source>Photos and recordings of the person</source>
            <translation>此人的照片和录音</translation>
        </message>
    </context>
    <context>
        <name>VoiceLinks</name>
        <message>
            <source>Face and voice of %1</source>
            <translation>%1 的人脸与声音</translation>
        </message>
        <message>
            <source>Face</source>
            <translation>人脸</translation>
        </message>
        <message>
            <source>Voice</source>
            <translation>声音</translation>
        </message>
        <message>
            <source>What speaks for it</source>
            <translation>依据</translation>
        </message>
        <message>
            <source>Now</source>
            <translation>目前</translation>
        </message>
        <message>
            <source>Faces and voices</source>
            <translation>人脸与声音</translation>
        </message>
        <message>
            <source>Play</source>
            <translation>播放</translation>
        </message>
        <message>
            <source>Play the voice beside the moving face (Enter)</source>
            <translation>在动态的人脸旁播放声音（回车）</translation>
        </message>
        <message>
            <source>Another voice…</source>
            <translation>另一个声音…</translation>
        </message>
        <message>
            <source>Choose the person whose voice belongs to this face</source>
            <translation>选择其声音属于这张脸的人物</translation>
        </message>
        <message>
            <source>one person</source>
            <translation>同一个人</translation>
        </message>
        <message>
            <source>not joined</source>
            <translation>未连接</translation>
        </message>
        <message>
            <source>No face and no voice of theirs was ever seen to go together.</source>
            <translation>从未发现此人的人脸和声音相互对应。</translation>
        </message>
        <message>
            <source>Only a voice is known of them; no face was seen to go with it.</source>
            <translation>只知道此人的声音，没有发现与之对应的人脸。</translation>
        </message>
        <message>
            <source>Not their voice</source>
            <translation>不是此人的声音</translation>
        </message>
        <message>
            <source>This is their voice</source>
            <translation>这是此人的声音</translation>
        </message>
        <message>
            <source>Separate this face and this voice; can be undone</source>
            <translation>把这张脸和这个声音分开；可以撤销</translation>
        </message>
        <message>
            <source>Join this face and voice; can be undone</source>
            <translation>把这张脸和这个声音连接起来；可以撤销</translation>
        </message>
        <message>
            <source>Whose voice belongs to %1?</source>
            <translation>谁的声音属于 %1？</translation>
        </message>
        <message>
            <source>Another voice</source>
            <translation>另一个声音</translation>
        </message>
        <message>
            <source>nothing but your word</source>
            <translation>仅依据您的说明</translation>
        </message>
    </context>
    <context>
        <name>_Side</name>
        <message>
            <source>Play</source>
            <translation>播放</translation>
        </message>
        <message>
            <source>(no longer there)</source>
            <translation>（已不存在）</translation>
        </message>
        <message>
            <source>(speech not understood)</source>
            <translation>（未听懂的话语）</translation>
        </message>
        <message>
            <source>Play %1 (%2)</source>
            <translation>播放 %1（%2）</translation>
        </message>
        <message>
            <source>Face at %1</source>
            <translation>%1 处的人脸</translation>
        </message>
        <message>
            <source>Voice at %1</source>
            <translation>%1 处的声音</translation>
        </message>
    </context>
    <context>
        <name>Scorecard</name>
        <message>
            <source>How right is this memory?</source>
            <translation>这个记忆有多准确？</translation>
        </message>
        <message>
            <source>Choosing the pairs that tell most …</source>
            <translation>正在挑选最能说明问题的组合……</translation>
        </message>
        <message>
            <source>Pairs answered</source>
            <translation>已回答的组数</translation>
        </message>
        <message>
            <source>Measure</source>
            <translation>指标</translation>
        </message>
        <message>
            <source>Value</source>
            <translation>数值</translation>
        </message>
        <message>
            <source>What it means</source>
            <translation>含义</translation>
        </message>
        <message>
            <source>Result</source>
            <translation>结果</translation>
        </message>
        <message>
            <source>One person (Y)</source>
            <translation>同一个人 (Y)</translation>
        </message>
        <message>
            <source>Two (N)</source>
            <translation>两个人 (N)</translation>
        </message>
        <message>
            <source>Don't know (D)</source>
            <translation>不知道 (D)</translation>
        </message>
        <message>
            <source>Back</source>
            <translation>上一组</translation>
        </message>
        <message>
            <source>Enough: show the result</source>
            <translation>够了：显示结果</translation>
        </message>
        <message>
            <source>Compare with a truth file…</source>
            <translation>与真值文件比较…</translation>
        </message>
        <message>
            <source>RTTM, a timeline or boxes .json, or lines of “start end speaker”</source>
            <translation>RTTM、时间线或人脸框 .json，或“开始 结束 说话人”形式的文本</translation>
        </message>
        <message>
            <source>Close</source>
            <translation>关闭</translation>
        </message>
        <message>
            <source>There is nothing to compare yet: no two faces, and no two utterances, of anybody.</source>
            <translation>还没有可比较的内容：没有任何人的两张脸或两段话。</translation>
        </message>
        <message>
            <source>Are these one person? %1 of %2</source>
            <translation>这是同一个人吗？第 %1 组，共 %2 组</translation>
        </message>
        <message>
            <source>No pair was answered, so nothing can be said.</source>
            <translation>没有回答任何一组，因此无法得出结果。</translation>
        </message>
        <message>
            <source>Precision</source>
            <translation>精确率</translation>
        </message>
        <message>
            <source>Recall</source>
            <translation>召回率</translation>
        </message>
        <message>
            <source>of what is taken for one person, so much is one person</source>
            <translation>被当作同一个人的内容中，确实是同一个人的比例</translation>
        </message>
        <message>
            <source>of what is one person, so much is taken for one person</source>
            <translation>确实是同一个人的内容中，被当作同一个人的比例</translation>
        </message>
        <message>
            <source>%1 pairs answered. In brackets: the 95 % interval.</source>
            <translation>已回答 %1 组。括号内是 95 % 区间。</translation>
        </message>
        <message>
            <source>Truth files</source>
            <translation>真值文件</translation>
        </message>
        <message>
            <source>All files</source>
            <translation>所有文件</translation>
        </message>
        <message>
            <source>Who was really seen and heard when</source>
            <translation>实际上何时看到、听到了谁</translation>
        </message>
        <message>
            <source>Comparing …</source>
            <translation>正在比较……</translation>
        </message>
        <message>
            <source>Compared with the truth file.</source>
            <translation>与真值文件的比较结果。</translation>
        </message>
        <message>
            <source>Faces</source>
            <translation>人脸</translation>
        </message>
        <message>
            <source>Voices</source>
            <translation>声音</translation>
        </message>
        <message>
            <source>none has a true person</source>
            <translation>没有已知真实身份的内容</translation>
        </message>
        <message>
            <source>%1 compared, of %2 people; of what is taken for one person, so much is one person</source>
            <translation>比较了 %2 个人的 %1 项；被当作同一个人的内容中，确实是同一个人的比例</translation>
        </message>
        <message>
            <source>%1: precision</source>
            <translation>%1：精确率</translation>
        </message>
        <message>
            <source>%1: recall</source>
            <translation>%1：召回率</translation>
        </message>
        <message>
            <source>%1: people for each</source>
            <translation>%1：每人对应的人物数</translation>
        </message>
        <message>
            <source>as how many people one true person is listed; best is 1</source>
            <translation>一个真实的人被列为几个人物；1 最好</translation>
        </message>
        <message>
            <source>Speaking time told wrongly</source>
            <translation>判断错误的说话时间</translation>
        </message>
        <message>
            <source>missed, invented, or given to somebody else (diarization error rate)</source>
            <translation>遗漏、虚构或归给他人（话者分离错误率）</translation>
        </message>
        <message>
            <source>right for %1 of %2 people, wrong for %3</source>
            <translation>%2 个人中 %1 个正确，%3 个错误</translation>
        </message>
        <message>
            <source>Face and voice</source>
            <translation>人脸与声音</translation>
        </message>
        <message>
            <source>of %1 sentences, so many name the right person</source>
            <translation>%1 个句子中，人物正确的比例</translation>
        </message>
        <message>
            <source>Sentences</source>
            <translation>句子</translation>
        </message>
        <message>
            <source>listed as %1</source>
            <translation>列为 %1</translation>
        </message>
        <message>
            <source>not found</source>
            <translation>未找到</translation>
        </message>
    </context>
</TS>
