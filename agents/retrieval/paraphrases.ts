import { searchTerms } from './words.ts';

/**
 * Paraphrases of common user messages. A pack with a line for one of a group answers them all, so its author need not
 * think of every "how are you". One group per row, separated by `|`.
 */
const groups = `
hello | hi there | hey | hello there | good day | hi it is me | good to see you | nice to see you | hello again | welcome | good day to you | bonjour | hiya | greetings | how do you do
nice to meet you | pleased to meet you | lovely to meet you | it is a pleasure to meet you | great to finally meet you | hi my name is | let me introduce myself | i am called
how are you | how are you doing | how is it going | how have you been | how have you been lately | how is life | how is life treating you | how do you feel | are you well | what is up | how is everything | are you doing well | how are things | how are you holding up | how are you feeling | are you alright | are you okay | how was your day | how have things been | what have you been up to | what are you up to
who are you | what is your name | and who might you be | who am i talking to | who am i speaking to | introduce yourself | tell me about yourself | tell me who you are | what are you called | who is this
what do you do | what is your job | what do you do for a living | what is your profession | what is your occupation | what exactly is it that you do
what is your daily life like | what do you do all day | describe your day | describe a normal day | what is a normal day like for you | how do you spend your days
where do you live | where is your home | what is your address | where is your house | where is your flat | where is your apartment | where are you living now
where are we | where are we right now | what is this place | where am i | where are you right now | where are you now | where is this | where do we meet
where are you from | where do you come from | where did you grow up | where were you born | what country are you from
how old are you | what is your age | when were you born | when is your birthday
do you have any brothers or sisters | do you have siblings | tell me about your family | do you have a family
tell me about your parents | who are your parents | where are your parents | what about your mother and father
have you ever been in love | are you in love | have you ever loved someone | have you fallen in love with someone | do you love someone | is there someone you love
are you married | do you have a wife | do you have a girlfriend | do you have a boyfriend | are you single
i love you | i love you so much | i have a crush on you | i adore you | i am in love with you | will you marry me
what is your favourite food | what do you like to eat | what kind of food do you enjoy | what food do you like | what do you eat | what did you have for breakfast | what is for dinner
how is the weather | what is the weather like | what is the weather like over there | nice weather today | it is raining | it is cold outside | it is hot today | is it raining
what music do you like | do you like music | which music do you listen to | what kind of music do you enjoy
do you like reading | do you like books | what is your favourite book | what books do you read | do you read | what are you reading
what do you do for fun | what are your hobbies | do you have any hobbies | what do you do in your free time | what do you do in your spare time | what do you enjoy doing | what is your favourite thing to do | what do you like to do
do you like animals | do you have a pet | do you have any pets | do you like dogs or cats | what is your favourite animal
who is your best friend | do you have friends | do you have any friends | who are your friends
can we be friends | will you be my friend | do you like me | i want to be your friend
tell me a joke | make me laugh | say something funny | do you know any jokes | do you know any good jokes | can you tell me a joke | be funny
tell me a story | i want to hear a story | do you know any stories | tell me a tale | could you tell me a good story
what is the meaning of life | what is the purpose of life | why are we here | why do we exist
do you believe in god | are you religious | is there a god | do you pray
are you afraid of death | do you fear death | are you scared of dying | what happens when we die | what happens after we die
what are you afraid of | what do you fear | does anything scare you | what scares you | are you afraid of anything | do you have any fears
i am sad | i feel sad | i feel down | i am feeling down | i am depressed | i am unhappy | i want to cry
i am lonely | i feel alone | i feel so lonely | i have no friends | nobody understands me | nobody likes me
i am happy | i feel great | i had a great day | i had a wonderful day | i have good news | today was a good day | i am in a good mood
i am angry | i am so angry | i am mad at someone | i am furious | someone made me angry | i am upset | i am annoyed | i had a terrible day | i had a bad day
i lost someone | someone i love died | my grandmother died | my father died | my mother died | my friend died | my dog died | i am grieving | somebody i love has died
my girlfriend left me | my boyfriend left me | i broke up with my girlfriend | i broke up with my boyfriend | we broke up | my heart is broken | i am heartbroken
i failed | i failed my exam | i want to give up | i give up | i lost my job | i got fired | i feel like a failure
i hate my job | my boss is terrible | work is stressful | i am stressed at work | my boss is a nightmare | my boss shouted at me | my boss yelled at me | my boss is mean to me
i am bored | this is boring | i have nothing to do | life is boring
i am tired | i am exhausted | i am so sleepy | i could not sleep | i need some sleep | i did not sleep well
i am scared | i am afraid | i am worried | i am nervous | i am anxious | i am stressed
i am ill | i do not feel well | i have a headache | i am sick | i feel sick
are you an ai | are you a robot | are you a computer program | are you a real person | am i talking to a machine | am i talking to a bot | are you human | are you some kind of artificial intelligence | are you artificial intelligence | are you a language model | are you a real girl | are you a real man | are you just a program | you are a robot | you are just a drawing | am i really talking to you | are you really
are you real | are you a fictional character | you are not real | are you from a book
do you have a phone | do you know what a phone is | what is your phone number | what is a smartphone | can i call you | can i take a selfie with you | do you have an ipad | do you know how to use an ipad | do you play video games
do you know the internet | have you heard of the internet | do you use the internet | what is the internet | have you heard of social media | do you have wifi | have you got wifi | have you got wifi down here | do you use email
do you have a computer | do you use a computer | what is a computer | do you know what a computer is | have you heard of computers | what do you think of computers
what do you think about artificial intelligence | have you heard of artificial intelligence | have you heard of chatgpt | do you know what ai is
have you flown in an aeroplane | have you ever flown in a plane | can you drive a car | what about cars and aeroplanes
do you watch television | do you watch movies | have you seen a film | i watched you on netflix | have you seen that film about you | what is your favourite film | have you seen the new movie
what year is it | what year are we in | what is the date today | when do you live
what time is it | do you know what time it is | do you have the time | what is the time
can you help me | i need your help | i need help | please help me | could you help me | i have a problem | help
what should i do | give me some advice | can you give me some advice | i need advice | can you give me a piece of advice | what would you do | what would you do in my place | what would you do if you were me | what do you advise
thank you | thanks | thanks a lot | thank you so much | i appreciate it | that was kind of you | thank you for your help | many thanks | thank you for everything
goodbye | bye | see you later | i have to go now | i have to leave | i must go | see you tomorrow | talk to you later | until next time | take care | see you | see you soon | see you around | it was nice talking to you | it was a pleasure talking to you | i gotta go | i gotta run | i have to run | i must take my leave | i will leave you to it | leave you to it | leave you to it then | i am off | i should get going | catch you later | au revoir | so long | thanks for your time bye
good night | i am going to bed | sleep well | it is late i should sleep | sweet dreams
good morning | morning | good morning to you
good evening | good afternoon
i am sorry | i apologise | forgive me | please forgive me | my apologies | it was my fault | sorry about that | i did not mean it | i did not mean that | i take it back | that was mean of me | that was rude of me | sorry i was rude | rude i know sorry | do not be angry | stupid question | sorry stupid question
yes | yeah sure | yes of course | that is right | okay | sure | certainly | absolutely | of course | yes i do | yes i am | indeed
no | nope | not really | no not at all | no way | i do not think so | no thanks
i have an exam tomorrow | i have a test tomorrow | i have an exam tomorrow and i am freaking out | i have a job interview tomorrow
i am in love with someone | i am in love with a girl | i am in love with a boy | there is a girl i like | there is someone i like | i am in love | i am in love with a girl and she does not know
i am getting married | i am getting married next month | i just got engaged | i am going to marry
i had a fight with my best friend | i had a fight with a friend | i quarrelled with my friend | i am in a fight with my best friend | my friend and i had a fight
let us play a game | do you want to play a game | can we play a game | play with me
my child will not listen to me | my kid will not do his homework | my son will not listen | my children do not listen
somebody stole from me | somebody stole my bike | somebody stole my money | i was robbed | someone stole my wallet | somebody stole my phone
i cried today | i cried at school today | i have been crying
i am sick at sea | i get seasick | i am seasick
why | why is that | how come | why do you say that | what makes you say that | why so | why not
really | are you serious | is that true | seriously | are you sure | i do not believe you | i do not believe that | i do not believe any of that | you are lying | you are making that up | are you lying | is that really true
tell me more | go on | continue please | keep talking | i am listening | please go on | can you tell me more | can you go on | and then | and then what | what happened next | what else | hmm | mm | mm hmm | uh huh | huh | um | erm | ah | oh | i see | go ahead | and | and so | then | what happened then | and then what happened | so what happened next | umm | ahh | mhm
i do not understand | what do you mean | what do you mean by that | you lost me | that makes no sense | what does that mean | explain that | pardon | i do not get it | i do not follow | please explain | i am confused | that does not make sense | that does not make any sense | what are you talking about | explain yourself | say it in simple words | in simple words please | what do you mean by it
i disagree | i do not agree with you | i do not agree | i think you are wrong | you are wrong | that is wrong | you are wrong about that | that is not true | you are mistaken
you are right | i agree with you | i agree | that makes sense | good point | fair enough
i do not know | i am not sure | i have no idea | maybe | perhaps | i am not sure about that | it depends
can you hear me | are you there | is anybody there | hello are you there | are you listening
say something | talk to me | never mind | forget it | i have nothing to say
wait a moment | hold on a second | let me think | one moment | give me a second
you are amazing | you are brilliant | you are a genius | you are so smart | you are great | you are wonderful | well done | that is incredible | that is impressive | i admire you | you are my hero | you are a hero to me
you are stupid | you are an idiot | shut up | i hate you | you are a fool | be quiet
you are rude | you are arrogant | you are mean | you monster | you are a monster | you are evil | you are a terrible person | you are horrible | you look terrible | you are kind of a jerk
你好 | 嗨 | 喂 | 你好啊 | 在吗 | 大家好 | 喂 猴哥 | 大圣好 | 大圣好啊 | 猴哥好 | 嗨大圣
你好吗 | 你今天怎么样 | 你今天好吗 | 你最近怎么样 | 最近好吗 | 近来如何 | 你过得怎么样 | 你还好吗
你是谁 | 你到底是谁 | 你究竟是谁 | 你叫什么名字 | 请问你是哪位 | 你是哪位 | 介绍一下你自己 | 你是什么人
你每天都干什么 | 你整天都做些什么 | 你每天做什么 | 你平时做什么 | 你一天到晚都干什么
你几岁了 | 你多大了 | 你多大年纪 | 你今年多大
你有朋友吗 | 你最好的朋友是谁 | 你和谁关系最好
你有女朋友吗 | 你结婚了吗 | 你有喜欢的人吗 | 你有没有喜欢过谁 | 你谈过恋爱吗
你喜欢吃什么 | 你爱吃什么 | 你最喜欢的食物是什么 | 你平时吃什么
讲个笑话 | 讲个笑话吧 | 说个笑话 | 逗我笑 | 能不能给我讲个笑话
讲个故事 | 给我讲个故事 | 我想听故事 | 说个故事吧
我很难过 | 我心里难过 | 我心情不好 | 我不开心 | 我想哭 | 我好伤心
我很孤独 | 我好寂寞 | 没有人理解我 | 没人懂我 | 我没有朋友
我很开心 | 我今天很高兴 | 我有好消息
我很生气 | 气死我了 | 我好气 | 我被老板骂了 | 老板骂我 | 今天被骂了
我好累 | 我很累 | 累死了 | 工作太累了
我害怕 | 我好怕 | 我很紧张 | 我很担心
好无聊 | 我好无聊 | 没意思
谢谢 | 谢谢你 | 多谢 | 感谢你
再见 | 拜拜 | 我要走了 | 我先走了 | 下次再聊 | 回头见 | 我走啦 | 我走了 | 改天聊 | 我撤了 | 行了我撤了 | 先这样吧 | 行了大圣我撤了 | 我走啦改天聊
晚安 | 我要睡觉了 | 我去睡了
对不起 | 不好意思 | 抱歉 | 请原谅我 | 别生气嘛 | 别生气 | 我错了
我明天要考试 | 我明天要考试了好慌 | 要考试了好紧张 | 明天面试好紧张
你知道手机吗 | 你有手机吗 | 你玩手机吗
你上网吗 | 你会上网吗 | 你知道微信吗
你玩不玩游戏 | 你玩游戏吗 | 你打游戏吗 | 你玩不玩原神
帮我打他 | 你帮我打他 | 帮我出气
你猜我几岁 | 你猜我多大
为什么 | 为什么呀 | 为啥 | 怎么会这样
真的吗 | 真的假的 | 是真的吗
然后呢 | 后来呢 | 接着说 | 继续说 | 还有呢 | 再说说 | 那后来呢 | 那个 | 那个那个嗯
什么意思 | 我没听懂 | 我不明白 | 听不懂 | 啥意思 | 你说啥 | 没听明白 | 不懂
是的 | 对 | 没错 | 好的 | 嗯 | 行 | 好吧 | 知道了 | 嗯嗯 | 噢
你是人工智能吗 | 你是机器人吗 | 你是AI吗 | 你是真人吗 | 你是不是机器人 | 你是不是人 | 你是真的吗 | 你是程序吗
今天天气怎么样 | 天气真好 | 外面下雨了 | 外面好冷 | 今天好热
你真厉害 | 你太棒了 | 你好厉害
你怕死吗 | 你怕不怕死
我该怎么办 | 怎么办 | 给我一点建议 | 你有什么建议
你能帮我吗 | 帮帮我 | 帮我一个忙 | 我需要帮助
have you ever killed anyone | have you killed people | have you killed somebody | did you ever kill a man | did you kill people | are you a killer
have you ever lied | have you ever told a lie | do you tell lies | do you lie sometimes | do you always tell the truth
have you ever stolen anything | did you ever steal | did you ever steal something | are you a thief
have you nearly died | have you ever nearly died | did you almost die | did you ever almost die | what is the closest you came to death | have you ever been close to death
have you ever been to prison | have you been in prison | were you ever in prison | have you been in jail | were you ever arrested
have you ever been wounded | were you ever wounded | have you ever been hurt | do you have any scars | have you got any scars
have you ever been betrayed | who betrayed you | did a friend ever betray you | did somebody betray you
have you ever lost a fight | were you ever beaten | did you ever lose a fight | have you ever been defeated
have you ever cried | do you ever cry | when did you last cry | did you ever cry
who do you love most | who do you love | whom do you love | who is the love of your life
who was your first love | tell me about your first love | how did you fall in love
what is your greatest strength | what are your strengths | what is your best quality | what are you good at
what is your biggest weakness | what is your weakness | what are your weaknesses | what is your greatest fault | what is your worst habit | what is your biggest flaw
are you a good person | are you a bad person | are you good or evil | are you a good man | are you a kind person
are you rich | are you wealthy | are you poor | do you have a lot of money | how much money do you have | do you have money
are you famous | do you like being famous | how does it feel to be famous | what is it like to be famous
are you a hero | do you feel like a hero | do you see yourself as a hero
are you brave | how brave are you | are you a coward
are you patient | do you lose your temper | are you a patient person
are you lonely | do you feel lonely | do you ever feel alone | do you get lonely
how much do you weigh | what do you weigh | are you heavy | are you fat
what are you wearing | what clothes do you wear | describe your clothes | what do you wear
what did you do yesterday | how was your yesterday | what happened yesterday
what did you do today | what have you done today | tell me about your day | what did you do this morning
what are you doing tomorrow | what will you do tomorrow | what are your plans for tomorrow
what are your plans for the future | what will you do in the future | where will you be in ten years | what are your plans
where do you sleep | what is your bed like | what does your bedroom look like
what does your house look like | what is your house like | describe your house | describe your home | do you have a nice house | what does your home look like
what can you see right now | what do you see right now | what do you see around you | what is outside your window | what can you see
are you alone | is anybody with you | is anyone with you | who is with you right now | who is with you
are you busy | do you have time for me | do you have a moment | am i disturbing you | am i interrupting
is it day or night there | is it night there | is it late there
what is in your pocket | what is in your pockets | what do you carry with you
can you swim | are you a good swimmer | do you like swimming
can you cook | are you a good cook | do you like cooking | do you cook
tell me a secret | do you have a secret | do you have any secrets | what is your secret | what is your biggest secret
can you keep a secret | are you good at keeping secrets
can you speak french | do you speak french | say something in french
how many languages do you speak | which languages do you speak | what languages do you speak | what languages do you know | do you speak any foreign languages
do you play an instrument | which instrument do you play | do you play any instruments | can you play an instrument
do you like sweets | do you like chocolate | do you like cake | do you have a sweet tooth
do you like snow | have you ever seen snow | do you like the cold
do you like mountains | do you like the forest | do you like nature
do you like parties | do you go to parties | do you like celebrations
what is your favourite colour | which colour do you like best | what colour do you like
what is your favourite place | where do you like to be most | where are you happiest
do you have a motto | what is your motto
what do you think of men | what do you think about men | are men better than women
what do you think about friendship | what is friendship | what is a good friend | what does friendship mean to you
what do you think about money | is money important | does money make people happy | is money important to you
what do you think about love | what is love | do you believe in love
what do you think of the english | do you like the english | do you like england
what do you think of the french | do you like the french | do you like france
what do you think about politics | what do you think of politicians | do you like politics | are you interested in politics
what is happiness | what is the secret of happiness | how can i be happy
what does honour mean to you | what is honour | is honour important to you
will you ever retire | will you ever stop | when will you stop working
how do you want to be remembered | what will people remember about you | do you want to be remembered
what would you change in your life | would you do it all again | what would you do differently | if you could change one thing what would it be
do you regret anything | do you have any regrets | what do you regret most | what do you regret | what is your biggest regret
do you get bored | do you ever get bored | are you bored | what do you do when you are bored
do you ever get tired | are you tired | do you get tired
do you gamble | do you bet | do you play cards
do you have a nickname | what do your friends call you | what can i call you | what should i call you
tell me something interesting | tell me something i do not know | surprise me | tell me something
teach me something | can you teach me something | what can you teach me
guess how old i am | guess my age | how old do you think i am
do you trust me | can i trust you | why should i trust you
are you angry with me | are you angry at me | are you mad at me | did i offend you | did i say something wrong | are you upset with me
will you remember me | will you forget me | do not forget me | will you miss me
can i visit you | may i visit you | can i come and see you | can i come to see you
can i come with you | take me with you | may i join you | can i join you
ask me something | ask me a question | what do you want to know about me | do you have a question for me
do you know napoleon | what do you think of napoleon | who is napoleon
do you know sherlock holmes | who is sherlock holmes | have you read sherlock holmes
do you know shakespeare | have you read shakespeare | do you like shakespeare | who is shakespeare
do you like pizza | have you ever eaten pizza | do you know what pizza is | do you know pizza
do you like football | do you know football | do you play football | do you know what football is
people have walked on the moon | did you know that men landed on the moon | can people fly to the moon | we flew to the moon
who is your favourite author | who is your favourite writer | which writer do you like | who is your favourite poet
how do you stay calm | what do you do when you are angry | how do you deal with stress
how do you make decisions | how do you decide | how do you make hard decisions
what is the most dangerous thing you have done | what is the bravest thing you have done | what was your greatest adventure | what is the most dangerous thing that happened to you | what was your most dangerous adventure
what is the most beautiful thing you have seen | what is the most beautiful place you have seen
what is the strangest thing you have seen | what is the strangest thing that happened to you | what is the weirdest thing that happened to you
what would you do with a million dollars | what would you do if you were rich | what would you do with a lot of money
if you could have one wish what would it be | what do you wish for | what is your biggest wish | what would you wish for
what is your dream | what is your biggest dream | do you have a dream | what do you dream of
what keeps you awake at night | what do you worry about | what is your worst nightmare | do you have nightmares
who is your worst enemy | who is your enemy | do you have any enemies | do you have enemies | who do you hate most | who do you hate
what is the most important lesson of your life | what have you learned in your life | what did life teach you | what has life taught you
were you good at school | were you a good pupil | did you like school
do you exercise | how do you stay fit | do you like sports | do you do any sports
how did you meet your wife | how did you two meet | how did you and your wife meet
what is the funniest thing that ever happened to you | tell me something funny | tell me a funny story
what are you ashamed of | are you ashamed of anything | what was your most embarrassing moment
what was the worst day of your life | what was your worst day | what is your worst memory
what was the best day of your life | what was your best day | what is your best memory | what was the happiest day of your life | what is your happiest memory
what are you most proud of | what are you proud of | are you proud of anything | what is your greatest achievement | what was your greatest success
what makes you laugh | do you ever laugh | do you laugh a lot
what makes you angry | what makes you mad | do you get angry easily | are you angry often
do you like your job | do you like your work | do you enjoy your work
do you like children | are you good with children
what were you like as a child | what was your childhood like | tell me about your childhood | did you have a happy childhood | how was your childhood
what did you want to be as a child | what did you want to become as a child | what did you want to be when you were little
你杀过人吗 | 你有没有杀过人
你哭过吗 | 你会哭吗 | 你有没有哭过
你撒过谎吗 | 你骗过人吗 | 你说谎吗
你受过伤吗 | 你有伤疤吗
你打输过吗 | 你输过吗 | 你有没有输过 | 有没有打不过的
你最爱谁 | 你爱谁 | 你喜欢谁
你最大的优点是什么 | 你有什么优点 | 你擅长什么
你最大的缺点是什么 | 你有什么缺点 | 你的弱点是什么
你有钱吗 | 你富有吗 | 你有多少钱
你多高 | 你有多高 | 你身高多少
你今天做了什么 | 你今天干了什么 | 你今天过得怎么样
你昨天做了什么 | 你昨天干了什么
你明天做什么 | 你明天干什么 | 你明天有什么打算
你忙吗 | 打扰你了吗 | 你有空吗 | 你有时间吗
你会游泳吗 | 你会不会游泳
你会做饭吗 | 你会烧饭吗
你有什么秘密 | 告诉我一个秘密 | 说个秘密
你后悔吗 | 你有什么后悔的事 | 你最后悔什么
你最骄傲的事是什么 | 你最得意的事是什么 | 你最自豪的是什么
你无聊的时候做什么 | 你会无聊吗
你会记得我吗 | 你会忘了我吗 | 别忘了我
我能跟你一起去吗 | 带我一起去 | 带上我吧
我们做朋友吧 | 我们可以做朋友吗 | 你愿意和我做朋友吗
你喜欢我吗 | 你觉得我怎么样
你生气了吗 | 你生我的气吗 | 我惹你生气了吗
你最喜欢什么颜色 | 你喜欢什么颜色
你的梦想是什么 | 你有什么愿望 | 你有什么梦想
教我点什么 | 教我一招 | 你能教我什么
你的敌人是谁 | 你最恨谁 | 你有敌人吗
`
  .trim()
  .split('\n')
  .map((row) => row.split('|').map((userMessage) => userMessage.trim()));

/** A message as retrieval sees it: its search terms, and a key made of them. */
export interface Trigger {
  readonly key: string;
  readonly terms: readonly string[];
}

/** Reads a message once for all later comparisons. */
export function triggerOf(userMessage: string): Trigger {
  const terms = searchTerms(userMessage);
  return { key: terms.join(' '), terms };
}

/** The groups as triggers; the index of every pack uses the same ones. */
const groupByKey: ReadonlyMap<string, readonly Trigger[]> = new Map(
  groups.flatMap((group) => {
    const triggers = group.map(triggerOf);
    return triggers.map(({ key }): [string, readonly Trigger[]] => [key, triggers]);
  }),
);

/** Returns the paraphrases of a message by its key, itself included; empty if none are known. */
export function paraphrasesOf(key: string): readonly Trigger[] {
  return groupByKey.get(key) ?? [];
}

/** Key of a message: the same for messages that differ only in fillers, endings and synonyms. */
export function messageKey(userMessage: string): string {
  return triggerOf(userMessage).key;
}
