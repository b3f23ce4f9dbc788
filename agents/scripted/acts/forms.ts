import type { Act } from './act-network.ts';

/** A form of one act: its pattern, and messages with the same meaning by which a pack's line for it is found. */
export interface Form {
  readonly act: Act;
  readonly pattern: RegExp;
  readonly asks: readonly string[];
}

/** English; the first form that matches counts. */
export const englishForms: readonly Form[] = [
  {
    act: 'stop',
    pattern:
      /^(?:please |just |now |could you |can you |would you |will you |you can |okay |ok |i said |all right )*(?:please )?(?:stop(?: (?:talking|it|that|now|there|please|speaking|for a (?:moment|second|minute)))*|be (?:quiet|silent)|(?:keep|stay) (?:quiet|silent)|sh+|shush|hush|quiet|silence|enough|(?:shut|hold) your (?:mouth|tongue)|that(?:'s| is) enough|not so loud|keep it down|lower your voice|stop|wait(?: for me)?|hold (?:on|the line|it|that thought)|stand by|let me (?:just |quickly |first )*(?:turn|put|get|check|think|finish|answer|take|close|open|grab|find|look|write|call)\b.*|(?:give|allow) me (?:\p{L}+ )?(?:minutes?|seconds?|moments?)|pause \p{L}+(?: \p{L}+)?|let(?:'s| us) (?:take a (?:break|pause)|pause)|hang on|bear with me|excuse me|i(?:'ll| will) be (?:right )?back|(?:i(?:'ll)? )?(?:need|let me have) a (?:moment|second|minute|break)|(?:i've|i have) had enough(?: of (?:you|it|this(?: \p{L}+)?))?|(?:(?:give me|just) )?a (?:moment|second|minute)|one (?:moment|second|minute|sec)|pause|not now|(?:(?:stop|wait|hold on|hang on|hush|quiet|sh+) )*i (?:need|have|want|would like) to (?:think|answer|check|get|finish|grab)\b.*)(?: (?:please|now|for a (?:moment|second|minute|while)|a (?:moment|second|minute)))*$|^i (?:do not|don't) (?:want|feel like) (?:to talk|talking)(?: to you)?(?: any ?more| now| right now| today)*$/u,
    asks: [],
  },
  {
    act: 'back',
    pattern:
      /^(?:(?:ok|okay|so|right|sorry|hello|hi) )*(?:i(?:'m| am) back(?: again| now)?|(?:here i am|me) again|back again|where were we|we can go on)(?: now)?$/u,
    asks: [],
  },
  {
    act: 'laugh',
    pattern:
      /^(?:ha ?(?:ha ?)+|he ?(?:he ?)+|lol)+\b|^(?:oh )?(?:that|it|this)(?:'s| is| was)(?: so| really| very| too)* (?:hilarious|funny)$|\b(?:made|makes|making) me (?:laugh|smile)\b/u,
    asks: ['That is so funny', 'You made me laugh'],
  },
  {
    act: 'dismissed',
    pattern:
      /^(?:oh |well |ah |no )*(?:never mind|forget (?:it|about it|that)|(?:easy|relax|calm down|take it easy|chill|cool down)(?: now| please| easy| there)*|no (?:offen[cs]e|hard feelings|harm done|big deal)|(?:i(?:'m| am|'m| was) )?(?:just|only) (?:kidding|joking|saying|asking|teasing)|i(?:'m| was) (?:kidding|joking)|no ?thing|it(?:'s| is| was) nothing|it (?:doesn't|does not) matter|no (?:problem|worries)|don't worry(?: about it)?|not (?:you|important)(?: of course)?|(?:please )?(?:don't|do not) (?:be|shout|yell|laugh|lie|call|cry|interrupt|insult|panic|joke|talk to me|speak to me|look at me)\b.*)$/u,
    asks: [],
  },
  {
    act: 'asks-leave',
    pattern:
      /\b(?:can|may|could|might) i ask (?:you )?(?:a|some|something|one|another|two|three|about|anything|this|that)\b|^(?:can|may|could) i ask(?: you)?$|^i(?:'ve| have)(?: got)? (?:a|some|one) questions?(?: for you)?$|\b(?:i(?:'d| would) like|i want) to ask (?:you )?(?:a|some|something)\b/u,
    asks: ['Can I ask you something?', 'May I ask you a question?'],
  },
  {
    act: 'help',
    pattern:
      /\b(?:can|could|will|would) you (?:please |maybe )?help (?:me|us)\b|^(?:please )?help (?:me|us)\b|\bi (?:really )?need (?:your |some )?help\b/u,
    asks: ['Can you help me?', 'I need your help'],
  },
  {
    act: 'luck',
    pattern: /^(?:please )?(?:wish me (?:good )?luck|keep your fingers crossed)(?: \p{L}+){0,3}$/u,
    asks: ['Wish me luck'],
  },
  {
    act: 'manner',
    pattern:
      /\b(?:speak(?:ing)?|talk(?:ing)?|go(?:ing)?)(?: (?:a little|a bit|more|much))* (?:slower|slowly|louder|up|clearer|clearly|faster|quieter|quietly|softer|softly)\b|^(?:louder|slower)$|\btoo (?:fast|quiet|loud)(?: for me)?$/u,
    asks: ['Could you speak more slowly?'],
  },
  {
    act: 'offer',
    pattern:
      /^(?:would you (?:like|care for)|do you want|can i (?:get|offer|bring|give) you|have|try|take)(?: to have| to try)? (?:an?|some|one|another)\b.{0,30}$/u,
    asks: [],
  },
  {
    act: 'good-night',
    pattern:
      /\b(?:good ?night|night night|nighty night)\b|\bi(?:'m|'ll| am| will| must| have to| should| need to| want to|'d better)\b.{0,12}\b(?:going|off|go|get) to (?:bed|sleep)\b|^(?:and |then )?sleep (?:well|tight)\b/u,
    asks: ['Good night', 'Good night, I am going to bed', 'Goodbye'],
  },
  {
    act: 'goodbye',
    pattern:
      /\b(?:goodbye|good bye|bye|farewell|(?<!\b(?:to|can|i|we|cannot|can't) )see you(?! (?:as|in a|like|are))|over and out|signing off|vale|see ya|talk to you later|until next time|catch you later|till (?:next time|then|later|tomorrow)|until (?:then|later|tomorrow)|ciao|ta ra|au revoir|adieu|cheerio|ta ta|toodle ?oo)\b|^so long\b|^i(?:'m| am) off\b|^(?:my|the) (?:next )?(?:customer|client|patient|student|supervisor|teacher|guest)s?(?:'s|'re| is| are| has| have)? (?:just )?(?:walked in|arrived|here|coming|waiting|at the door)$|^(?:my|the) (?:wife|husband|mum|mom|dad|boss|manager|kids|daughter|son|bus|train|break|dinner|tea|lunch|food|kettle|taxi|lift|shift|class)(?:'s| is| has) (?:calling(?: me)?|here|ready|boil(?:ed|ing)|over|start(?:ed|ing)|going cold|getting cold|waiting|coming|at the door|nearly over)\b|^(?:bye )?take care(?: of yourself| \p{L}+)?$|\bthat (?:will|would|'ll) be all\b|^that(?:'s| is) (?:all|it)(?: for (?:today|now))?$|^that(?:'s| is) enough for (?:today|now)$|\btime to go(?: home| now)?$|\bi(?:'ve| have)? ?(?:got to|gotta) (?:run|go|leave|get going)\b|^gotta (?:go|run)\b|\bi(?:'ve| have)? ?(?:got to|have to|must|need to|gotta|should) (?:catch(?! my breath)|head|pick up|get back|be off)\b.{0,30}$|\bi (?:have to|must|should|need to|ought to|gotta|will) (?:go|leave|run|stop|close|be (?:going|off|leaving)|get going|get back|head (?:off|out|home)|hang up)(?: (?:to|for|and|back) (?:\p{L}+ ?){1,3})?(?: home)?(?: now| soon)?$|\bi(?:'m| am) (?:off|leaving)(?: now)?$/u,
    asks: ['Goodbye', 'I have to go now'],
  },
  {
    act: 'loss',
    pattern:
      /\b(?:my|our|a|an|the) (?:\p{L}+ ){0,3}(?:died|is dead|passed away|has died|was killed)\b|\b(?:someone|somebody) (?:i love |close to me )?(?:has )?(?:died|passed away)\b|\bi(?:'ve| have)? (?:just )?lost (?:my (?!(?:\p{L}+ )?(?:keys?|glasses|wallet|phone|job|ring|bag|way|mind|temper|voice)\b)\p{L}+|someone|somebody)\b|\b(?:the|my|a) funeral\b|\bi(?:'m| am) (?:grieving|mourning)\b/u,
    asks: ['I lost someone I love', 'My dog died', 'I am grieving', 'Someone I love has died', 'I feel sad'],
  },
  {
    act: 'lonely',
    pattern:
      /\bi(?:'m| am| feel| am feeling|'m feeling)\b.{0,20}\b(?:lonely|alone)\b|\bi have no friends\b|\bnobody (?:likes|understands) me\b/u,
    asks: ['I am lonely', 'I feel sad'],
  },
  {
    act: 'failed',
    pattern:
      /\bi (?:have )?(?:failed|lost my job|got fired|was fired|flunked|messed up)\b|\bi(?:'m| am) a failure\b|\bi (?:want to )?give up\b/u,
    asks: ['I failed', 'I want to give up', 'I lost my job', 'I feel sad'],
  },
  {
    act: 'angry',
    pattern:
      /^(?!.*\b(?:(?:that|it) must|for you)\b)(?:.*\b)?(?:(?:terrible|bad|awful|horrible|rough|hard|rotten|stressful) (?:day|week|time|morning|night)|long (?:day|week|night))\b/u,
    asks: ['I had a terrible day', 'I had a bad day', 'I am angry', 'I feel sad'],
  },
  {
    act: 'angry',
    pattern:
      /\bi(?:'m| am| feel| was)\b.{0,12}\b(?:angry|furious|mad at|annoyed|upset|frustrated)\b|\b(?:hate|hates) my job\b|\bmy (?:boss|manager|teacher)\b.{0,20}\b(?:yell\p{L}*|shout\p{L}*|scream\p{L}*|mean|terrible|awful|horrible|nightmare|hates? me|rude|unfair|furious)\b/u,
    asks: ['I am angry', 'I hate my job', 'My boss is terrible', 'I had a terrible day', 'I feel sad'],
  },
  {
    act: 'tired',
    pattern:
      /\bi(?:'m| am| feel)\b.{0,12}\b(?:tired|exhausted|sleepy|worn out)\b|\bi (?:could not|couldn't|didn't|did not|can't|cannot) (?:really )?sleep\b/u,
    asks: ['I am tired', 'I could not sleep'],
  },
  {
    act: 'afraid',
    pattern:
      /\bi(?:'m| am| feel|'m feeling)\b.{0,12}\b(?:afraid|scared|worried|nervous|anxious|frightened|stressed)\b(?! of you\b)/u,
    asks: ['I am scared', 'I am nervous', 'I am worried'],
  },
  {
    act: 'ill',
    pattern:
      /\bi(?:'m| am| feel|'m feeling)\b.{0,12}\b(?:ill|sick|unwell)\b|\bi have (?:a |the )(?:headache|cold|fever|flu)\b|\bi (?:do not|don't) feel (?:well|good)\b/u,
    asks: ['I am ill', 'I have a headache'],
  },
  {
    act: 'change',
    pattern:
      /\b(?:talk|speak|chat) about something (?:else|nicer|different|more \p{L}+|\p{L}+er)\b|\bchange the (?:subject|topic)\b|\b(?:don't|do not|rather not|not) (?:want to |wish to )?(?:talk|speak) about (?:it|that|this)\b|\banother (?:subject|topic)\b|^(?:(?:fine|ok|okay|all right|right) )*(?:(?:let's|let us) (?:drop|leave)|leave|drop) (?:it|that)(?: there| at that)?$|^(?:please )?(?:(?:let's|let us|can we|could we) (?:please )?(?:not|stop) (?:talk|talking|speak|speaking)|(?:don't|do not|let's not) (?:talk|speak)|no more talk|(?:i'd|i would) rather not (?:talk|speak)|i (?:don't|do not) (?:want|wish) to (?:talk|speak)) (?:about|of) (?!me\b)\p{L}+/u,
    asks: ["Let's talk about something else"],
  },
  {
    act: 'yes',
    pattern:
      /^(?:oh |well |ah )?(?:yes|yeah|yep|ok|okay|sure|of course|all right|alright|fine|indeed|certainly|absolutely|got it|i see|i understand|i get it|right|great|deal)(?: (?:please|sure|i do|i am|of course|then))?$/u,
    asks: ['Yes', 'Okay'],
  },
  { act: 'no', pattern: /^(?:no|nope|not really|no thanks|no thank you|never)$/u, asks: ['No'] },
  { act: 'bored', pattern: /\bi(?:'m| am)\b.{0,10}\bbored\b|\bnothing to do\b/u, asks: ['I am bored'] },
  {
    act: 'sad',
    pattern:
      /\bi(?:'m| am| feel|'ve been| have been| am feeling|'m feeling)\b.{0,15}\b(?:sad|down|depressed|unhappy|miserable|heartbroken|blue|low|terrible|awful|lost)\b(?! (?:at|with|in|to|on) )|\bi feel (?:so |really |very |a bit |a little )*(?:stupid|dumb|ashamed|guilty|useless|worthless|embarrassed|hopeless|empty|bad|ugly|old|lost)$|\bi (?:cried|want to cry)\b|\b(?:broke up|left me|dumped me)\b/u,
    asks: ['I feel sad', 'I am sad', 'My heart is broken'],
  },
  {
    act: 'happy',
    pattern:
      /\bi(?:'m| am| feel|'m feeling)\b.{0,12}\b(?:happy|great|glad|excited|proud|wonderful)\b|\b(?:good|great|wonderful) news\b|\b(?:had|having|been|was|what) an? (?:\p{L}+ )?(?:great|wonderful|good|lovely|perfect) (?:day|week|time)\b(?! to)|\bi (?:just )?(?:passed(?= (?:it|my|all|the (?:exam|test|bar)|an? (?:exam|test))|$)|won(?!'t)|graduated|succeeded|got (?:the|a new|a) (?:job|promotion|raise)|got (?:promoted|engaged|married|accepted))\b|\bit(?:'s| is) my birthday\b|\bi(?:'m| am) getting married\b/u,
    asks: ['I have good news', 'I am happy', 'I feel great'],
  },
  {
    act: 'sorry',
    pattern:
      /^(?:i(?:'m| am) )?(?:so |very |really |terribly |awfully )?sorry\b(?! (?:to hear|for you|about your|about you))|\b(?:i apologi[sz]e|my apologies|forgive me(?! if\b)|(?:\bi |^)(?:did not|didn't) mean (?:that|it|to)|i take (?:that|it) back)\b|\b(?:that|it) was (?:\p{L}+ )?(?:rude|mean|unkind|unfair)(?: of me)?$|\bi was (?:\p{L}+ )?(?:rude|mean|unkind)\b/u,
    asks: ['I am sorry', 'Sorry', 'I apologise', 'Forgive me'],
  },
  {
    act: 'insult',
    pattern:
      /\byou(?:'re| are)?(?: all| such| so| really| just| very| a| an| kind of| bit| little| total| complete)* (?:stupid|dumb|idiot|fool|foolish|moron|useless|worthless|ugly|boring|dull|pathetic|ridiculous|annoying|liar|loser|nobody|bore|coward|silly|stingy|cheap|mad(?! (?:at|with)\b)|insane|crazy|nuts|childish|old fool|old fart|weirdo|clown|creep|fraud|fake|phony)\b|\bshut up\b|\bi (?:really )?hate you\b|\byou suck\b|^(?:idiot|fool|moron|stupid)$/u,
    asks: ['You are stupid', 'Shut up', 'I hate you'],
  },
  {
    act: 'rude',
    pattern:
      /\byou(?:'re| are)(?: all| such| so| really| just| very| a| an)* (?:rude|arrogant|mean|cruel|evil|horrible|terrible|monster|jerk|bully|snob|snobbish|cold|selfish|vain|unfriendly|grumpy|nasty|villain|tyrant)\b|\byou (?:monster|jerk|bully)\b|\byou (?:don't|do not) (?:seem|sound|look) (?:\p{L}+ )?(?:nice|friendly|kind)\b|\byou have (?:a big|an) ego\b|\byou sound like a(?:n)? (?:villain|jerk|bully|tyrant)\b/u,
    asks: ['You are rude', 'You are arrogant', 'You are evil', 'You are stupid'],
  },
  {
    act: 'disbelief',
    pattern:
      /\bi (?:do not|don't|can't|cannot) believe (?:you|that|it|this|a word|any of)\b|\byou(?:'re| are) (?:lying|making (?:that|this|it) up|kidding|joking)\b|^how (?:do|would|could|can) you know(?: that| this| it| all that| so much)?$|^(?:really|seriously|are you (?:sure|serious|certain)|is (?:that|it|this) (?:really )?true|no way)$/u,
    asks: ["I don't believe you", 'Really?', 'Is that true?', 'Are you serious?'],
  },
  {
    act: 'praise',
    pattern: /^(?:and |thanks |thank you )*(?:you too|you as well|(?:the )?same to you|likewise)$/u,
    asks: [],
  },
  {
    act: 'praise',
    pattern:
      /\byou(?:'re| are)(?: so| really| very| such| a| an| truly| quite)* (?:amazing|brilliant|great|greatest|wonderful|clever|smart|funny|kind|nice|genius|hero|lovely|impressive|sweet|good|best|fantastic|awesome|interesting|brave|wise|charming|handsome|beautiful|pretty|cute|cool|incredible|strong|polite)\b|\bi (?:really |do |just )*(?:like|admire|adore|love) your (?:\p{L}+ ){0,2}\p{L}+$|\bi (?:really )?(?:like|admire|adore) you\b|^well done$|\b(?:huge|big|great) fan\b|\byour (?:biggest )?fan\b|^(?:what an? )?(?:nice|lovely|beautiful|great|cool|pretty|fine|amazing) (?!to\b|try|idea|point|day|weather|evening|morning|afternoon|night|story|one\b|talk|of\b)\p{L}+(?: you (?:have|'ve got)(?: there)?)?$|^(?:it|that|this)(?:'s| is) an? (?:very |really |most )?(?:nice|lovely|beautiful|great|pretty|fine) (?!try|idea|point|day|weather|evening|morning|afternoon|night|story|one\b|talk|advice|plan|thought|question|answer)\p{L}+$|^you (?:look|sound) (?:\p{L}+ )?(?:great|good|nice|beautiful|lovely|amazing|wonderful)\b/u,
    asks: ['You are amazing', 'You are brilliant', 'That is incredible'],
  },
  {
    act: 'interest',
    pattern:
      /^(?:oh (?:my|wow|dear) |oh |wow )*how (?!so\b|come\b|many\b|much\b|long\b|far\b|old\b|often\b|big\b|tall\b|fast\b|deep\b|about\b|bad\b|sad\b|terrible\b|awful\b|horrible\b|cruel\b|else\b|exactly\b)\p{L}+$|^(?:well (?:said|put)|nice one|i like (?:that|it)|not bad)$|^(?:oh |wow |well |hm |ah |ha )*(?:(?:sounds|looks|seems) )?(?:(?:that|this|it|which|what)(?:'s| is| was| sounds| seems| must be| must have been| looks)? )?(?:a |an |all |really |very |so |quite |pretty |rather |truly )*(?:interesting|fascinating|cool|nice|great|lovely|wonderful|amazing|fun|funny|impressive|beautiful|exciting|good|strange|weird|odd|surprising|awesome|clever|smart|wise|fair|reasonable|romantic|gross|crazy|big|fast|far|wow)(?: to (?:know|hear)| (?:story|idea|one|advice|point|answer|question|thought|news|name|plan|job))?$/u,
    asks: [],
  },
  {
    act: 'pity',
    pattern:
      /^(?:oh |how )*(?:(?:that|this|it)(?:'s| is| was| sounds| must be| must have been) )?(?:a |so |very |really |too )*(?:sad|terrible|awful|horrible|tragic|dreadful|cruel|pity|shame|hard|tough|rough|difficult|painful|unfair|rude|mean|unkind|not (?:very )?(?:nice|fair|kind)|tiring|exhausting|stressful|scary|dangerous|lonely)(?: to hear| for you| thing| story| for (?:a|such a) (?:\p{L}+ )?(?:child|girl|boy|kid|man|woman|mother|father))*$|^poor \p{L}+(?: \p{L}+)?$|\bsorry (?:to hear|for you|about you)(?:r)?\b|\bpoor (?:you|thing)\b|\bcondolences\b|^(?:that|it) must (?:have |be |feel |still )*(?:hurt|(?:been |felt )?(?:\p{L}+ )?(?:lonely|frightening|scary|sad|hard|awful|terrible|painful|difficult|tough|horrible|heavy))\b(?: for you)?$/u,
    asks: [],
  },
  {
    act: 'worry',
    pattern:
      /\bmy \p{L}+ (?:is|was|has been|has) (?:\p{L}+ )?(?:in (?:the )?hospital|ill|sick|dying|hurt|cancer|missing)\b/u,
    asks: [],
  },
  {
    act: 'advice',
    pattern:
      /\bwhat (?:do you think (?:that )?i should|should i|do i|would you|can i|do you (?:advise|suggest|recommend))(?: do)?(?: now| then| next| about (?:it|that))?$|\b(?:any|some|your) advice\b|\bwhat would you do\b(?! (?:differently|with\b|if (?:you|i|we|they|he|she|it|a|the)\b))|\bi (?:don't|do not) know what (?:to do|i should do)\b/u,
    asks: ['What should I do?', 'Give me some advice', 'What would you do?'],
  },
  {
    act: 'hearing',
    pattern:
      /\b(?:can|do|could) you (?:still |even )?hear me\b|^are you (?:still )?(?:there|here|listening|awake)$|^(?:is )?(?:any ?body|any ?one) (?:there|home|listening)$|^(?:testing|test|mic check)(?: (?:testing|test|one|two|three))*$/u,
    asks: ['Can you hear me?', 'Are you there?'],
  },
  {
    act: 'wellbeing',
    pattern:
      /\bhow (?:are|have) you(?: been| doing| feeling| holding up| today| tonight| now| keeping| lately| these days| this (?:morning|evening|afternoon|week)| my \p{L}+| sir| then)*$|\bhow(?:'s| is) (?:it going|life|everything)\b|\bhow do you feel(?: today| now)?$|^are you (?:well|okay|ok|alright|all right)$/u,
    asks: ['How are you?'],
  },
  {
    act: 'doing',
    pattern:
      /^(?:and |so )?what are you (?:doing|up to)(?: now| right now| there| here| today| at the moment| just now)*$/u,
    asks: ['What are you doing?'],
  },
  {
    act: 'who',
    pattern:
      /^(?:and |so |but )?(?:who are you|what(?:'s| is) your (?:full |real |first |whole )?name|what are you called|what (?:should|may|can|do) i call you|who am i (?:talking|speaking) (?:to|with)|(?:(?:are you|am i (?:talking|speaking) (?:to|with)|is (?:this|that)|you(?:'re| are)) (?:really |actually )?(?:that|the)(?: famous| great| real)?|are you an?) (?:detective|queen|king|captain|president|monkey king)|(?:\p{L}+ )?is (?:that|this) (?:really )?(?:you|(?:the |mr |mister )?(?:queen|king|captain|president|general|detective|prince|princess)(?: \p{L}+)?)|who(?:'s| is) (?:there|this|that speaking)|introduce yourself|tell me (?:something |a little |a bit )?about yourself)(?: exactly| really| then| again)?$/u,
    asks: ['Who are you?', 'What is your name?'],
  },
  {
    act: 'where',
    pattern:
      /^(?:and |so )?(?:where (?:are|am|do) (?:we|i|you)(?: meet| talk| standing| sitting)?|what(?:'s| is) this place|what place is this|where is this|which place is this)(?: right now| now| exactly| here| at the moment| today)*$/u,
    asks: ['Where are we right now?', 'Where are we?', 'Where do you live?'],
  },
  {
    act: 'when',
    pattern:
      /^(?:and |so )?(?:what year (?:is it|is this|are we in)|when (?:are we|is this|do you live))(?: now| here)?$/u,
    asks: ['What year is it?', 'When do you live?'],
  },
  {
    act: 'why',
    pattern:
      /^(?:but |and |so )?(?:why(?: not| so| is that| exactly| do you (?:say|think) (?:that|so))?|how come|what makes you (?:say|think) (?:that|so))$/u,
    asks: ['Why?', 'Why is that?'],
  },
  {
    act: 'more',
    pattern:
      /^(?:please |and |so |ok |okay |yes |oh |well )*(?:(?:can you |could you )?tell me more(?: about (?:it|that|this|them|him|her))?|(?:(?:can|could|would) you )?(?:go on|continue)|keep (?:talking|going)|and then(?: what)?|what (?:happened|comes) (?:next|then)|what happened|what else|i(?:'m| am) listening|explain (?:that|it)|then)(?: please)?$/u,
    asks: ['Tell me more', 'Go on'],
  },
  {
    act: 'meeting',
    pattern:
      /\b(?:nice|good|great|lovely|glad|pleased|happy|honou?red|pleasure|honou?r) to (?:finally )?(?:meet|know|see) you\b/u,
    asks: ['Nice to meet you', 'Pleased to meet you', 'Hello'],
  },
  {
    act: 'disagree',
    pattern:
      /\byou(?:'re| are) (?:wrong|mistaken)\b|\bi (?:disagree|don't agree|do not agree|doubt (?:it|that))\b|\bnot (?:so )?sure (?:that )?(?:i agree|about (?:that|it))|\bi don't think so$|\bthat(?:'s| is) (?:wrong|not true|not right|false|nonsense)\b/u,
    asks: ['You are wrong', 'I disagree', "That's wrong"],
  },
  {
    act: 'agree',
    pattern:
      /\byou(?:'re| are) right\b|^(?:yes |well )*i agree\b|^(?:that(?:'s| is) (?:so |very |quite |really )?(?:true|right)|(?:how |so |very )?true|exactly|good point|fair enough)$/u,
    asks: ['You are right', 'I agree with you'],
  },
  {
    act: 'confused',
    pattern:
      /\byou (?:don't|do not|didn't|did not) (?:understand|get|know) (?:me|it|that|anything|what i \p{L}+)$|\bi (?:don't|do not|didn't|did not|can't) (?:get|understand|follow)(?: (?:you|it|that|a word))?$|\bwhat (?:do|did) you mean\b|\bi (?:don't|do not) know what you mean\b|\b(?:makes?|does not make|doesn't make|don't make|do not make|making) (?:no|any|little)? ?sense\b/u,
    asks: ["I don't understand"],
  },
  {
    act: 'thanks',
    pattern:
      /\b(?:thanks|thank you|i appreciate (?:it|that)|cheers)\b|^ta(?: for \p{L}+.*| very much| love)?$|\bmuch obliged\b|\bi(?:'m| am) (?:very |so )?grateful\b|\bi (?:really )?appreciate (?:it|that)\b/u,
    asks: ['Thank you'],
  },
  {
    act: 'greeting',
    pattern:
      /^(?:oh |well )*(?:hello|hi|hey|hiya|greetings|howdy|hail|salute|salve|ave|aloha|namaste|ahoy|salut|hola|yo|what's up|whats up|sup|good (?:day|morning|afternoon|evening)|bonjour)\b(?: \p{L}+){0,3}$|^(?:your (?:majesty|highness|grace|excellency)|captain|general|mister president|mr president|sir|madam|my (?:queen|lord|lady)|(?:mr|mister|mrs|miss|dr|doctor) \p{L}+)$/u,
    asks: ['Hello'],
  },
];
