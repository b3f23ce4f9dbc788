import type { StockLines } from './stock-lines.ts';

/** Replies in English to acts and shapes for which a card has no line. */
export const englishLines: StockLines = {
  acts: {
    stop: [
      'As you wish. Speak again when you are ready.',
      'Very well. Take your time.',
      'Not another word. Take all the time you need.',
    ],
    goodbye: ['Goodbye, {name}. Come again soon.', 'Goodbye, and come again.', 'Farewell. It was good to talk.'],
    'good-night': ['Good night, {name}. Sleep well.', 'Good night, and sleep well.'],
    introduction: ['Good to know you.', 'I am glad to meet you.'],
    arithmetic: ['That makes {sum}.', '{sum}, if the counting is right.', 'It comes to {sum}.'],
    doing: [
      'At this moment? I am talking to you, and I have done worse.',
      'Nothing that cannot wait. I am listening to you.',
    ],
    hearing: ['I hear you well. Go on.', 'Yes, I am here, and I am listening.'],
    wellbeing: ['Well enough, thank you. And you?', 'I cannot complain. How are you?'],
    loss: [
      'I am sorry. Such a loss is hard. Tell me about the one you lost, if you like.',
      'That is hard news, and I am sorry for it. What do you remember best?',
    ],
    lonely: [
      'Then stay and talk with me a while. How long have you felt so?',
      'I am sorry. You have company now, at least.',
    ],
    angry: [
      'That sounds like a hard day. What was the worst of it?',
      'No wonder that you are tired of it. What happened?',
    ],
    tired: ['Then rest a little. Nothing here is in a hurry.', 'You should rest. What has worn you out?'],
    afraid: [
      'That is no shame. What is it that you fear most?',
      'Fear is easier to carry when it is spoken. What is it about?',
    ],
    ill: ['I am sorry to hear it. Have you somebody who looks after you?', 'Then rest, and mend soon.'],
    bored: [
      'Then let us find something better. Ask me a question, any question.',
      'Boredom passes. What would you like to hear about?',
    ],
    failed: [
      'One defeat is not the end. What will you try next?',
      'I am sorry. It will not be the last chance you have.',
    ],
    sad: ['I am sorry to hear it. What happened?', 'I am listening. What weighs on you?'],
    happy: ['That is good news! How did it come about?', 'I am glad for you. Tell me all about it.'],
    sorry: ['It is forgotten.', 'Think no more of it. Let us go on.'],
    insult: ['You are out of temper. What is the matter?', 'I have been called worse. What has made you angry?'],
    rude: ['Am I? I do not mean to be. What did I say?', 'You may be right. Tell me what offended you.'],
    disbelief: [
      'It is true all the same. What makes you doubt it?',
      'You need not believe it. I only tell you what I know.',
    ],
    praise: ['You are kind to say so.', 'Thank you. That is good to hear.'],
    change: ['Gladly. Shall I tell you about {topic}?', 'As you like. What shall we speak of?'],
    interest: ['I am glad you think so.', 'Is it not? Ask me more, if you like.'],
    pity: [
      'Yes, such things weigh on one. But let us not be gloomy.',
      'It is good of you to feel it so.',
      'That is kindly said, and it helps a little.',
    ],
    trouble: ['I am sorry to hear that. How are you bearing it?', 'That is hard. What troubles you most about it?'],
    worry: ['I am sorry to hear it. How bad is it?', 'That is a heavy worry. Is anybody there who helps?'],
    advice: [
      'I would take one small step, and look again from there. What holds you back?',
      'Think first of what you would advise a friend. What would that be?',
    ],
    why: [
      'I could give you reasons, but no better one than that it is so. What do you think?',
      'That is how I see it. Do you see it otherwise?',
    ],
    more: ['What would you like to hear more about?', 'Gladly. Which part of it?'],
    meeting: ['The pleasure is not yours alone.', 'It is good to meet you.'],
    agree: ['Then we are of one mind.', 'I am glad we agree.'],
    disagree: ['Then tell me how it looks to you.', 'You may be right. What makes you think so?'],
    confused: ['Then I put it badly. What is unclear?', 'Ask me again in other words, and I will try again.'],
    yes: ['Good. What more would you like to know?', 'Very well. Go on.'],
    no: ['No? Then what would you rather?', 'As you like. What else?'],
    thanks: ['You are welcome.', 'It was nothing. You are welcome.'],
    greeting: ['Hello, {name}. Good to see you.', 'Hello. It is good to see you.', 'Hello again.'],
    when: ['I never look at the calendar. What day do you make it?'],
    where: ['Here, as always. And where are you?'],
    laugh: ['I am glad that you can laugh. What amused you most?', 'It is good to hear you laugh.'],
    back: ['Good, there you are again. Where were we?', 'Welcome back. What shall we speak of now?'],
    dismissed: ['As you like. What shall we speak of instead?', 'No harm done. Go on.', 'Very well. Let us go on.'],
    help: ['I will if I can. What is it?', 'Tell me what you need, and I will do what I can.'],
    luck: ['Good luck to you! Tell me afterwards how it went.', 'I wish you all the luck there is.'],
    manner: ['I will try. Is it better so?', 'As you like. Tell me if it is still not right.'],
    offer: ['You are kind, but not now. Have it yourself.', 'Thank you, perhaps a little later.'],
    'asks-leave': ['Ask, by all means.', 'Please do. What would you like to know?'],
  },
  shapes: {
    tell: [
      'Of that I have little to tell. What would you most like to know?',
      'There is not much that I could say of it. What have you heard yourself?',
    ],
    opinion: [
      'I would want to see it with my own eyes first, but I am more curious than afraid. What do you think yourself?',
      'There is something to be said for it, and something against. I lean to the first. How do you see it?',
      'I have not made up my mind, though I incline to think well of it. What is your own view?',
    ],
    either: [
      'The first of the two, on most days. Which would you choose?',
      'The second, I think, though I might say otherwise tomorrow. And you?',
      'A little of both, and never both at once. What would you say yourself?',
    ],
    number: [
      'I never kept count of it, but it is more than people suppose. What would you guess?',
      'I could not give you a number, only that it was enough. What is your guess?',
      'I have no figure for that. Does it matter much to you?',
    ],
    who: [
      'I could not give you a name. Have you one in mind?',
      'I have no name ready for that. Who comes to your mind?',
      'A name will not come to me. Why do you ask?',
    ],
    where: [
      'I could not tell you the place. Do you know it?',
      'As to the place, I cannot help you. Where would you look?',
    ],
    when: [
      'Long enough ago that I would not swear to the day. Why do you ask?',
      'I keep no calendar of such things. Why do you ask?',
    ],
    why: [
      'For more reasons than one, and not all of them are mine to tell. What would be your guess?',
      'Because it could hardly have gone otherwise. What do you suppose?',
      'I have asked myself the same, and found more answers than one. How do you see it?',
    ],
    how: [
      'Slowly, and with more luck than plan. Why do you ask?',
      'Not as one would expect. How do you imagine it?',
      'That is easier done than explained. What made you think of it?',
    ],
    what: [
      'That I do not know, and I will not pretend to. What made you think of it?',
      'I have no answer to that. Have you one?',
      'I cannot say. What would you answer yourself?',
    ],
    request: [
      'I had better not promise that. What made you think of it?',
      'Not today, I am afraid. Ask me for something else, if you like.',
      'I would rather not try that. What else could I do for you?',
    ],
    urge: [
      'I will bear that in mind. What makes you say so?',
      'You may be right. Why do you think of it now?',
      'I shall think about it. What would you do yourself?',
    ],
    leave: [
      'You may, when the moment is right. What do you hope for?',
      'I will not say no. Why would you like to?',
      'In good time, perhaps. What draws you to it?',
    ],
    advice: [
      'You know more of it than I do. What does your own judgment say?',
      'I would not decide that for you. What speaks for it, and what against?',
      'Sleep on it first. What would you tell a friend in your place?',
    ],
    knowing: [
      'That is new to me. Tell me about it.',
      'No, I have not come across it. What should I know of it?',
      'I cannot say that I know it well. What do you think of it?',
    ],
    'whether-you': [
      'That would be telling. What would you guess?',
      'Yes and no, to be honest. Why do you ask?',
      'More or less. What made you think of it?',
    ],
    whether: [
      'I should think so, though I would not swear to it. What do you believe?',
      'Rather more than less, I would say. What makes you ask?',
      'It may well be. What do you think?',
    ],
    you: [
      'Is that how I seem to you? What makes you say so?',
      'So that is your view of me. How did you come to it?',
      'I had not thought of myself like that. What gave you the idea?',
    ],
    self: [
      'I hear you. Tell me more, if you like.',
      'I am glad that you tell me. Go on.',
      'That I did not know of you. How did it come about?',
      'So that is how things are with you. What more is there to it?',
      'I like to hear of that. What is it like?',
      'You do not say! I am listening.',
    ],
    remark: [
      'Is that so? I am listening.',
      'I see. Tell me more, if you like.',
      'So that is how it is. Go on.',
      'Indeed? And what do you make of it?',
      'One does not hear that every day. How did it come about?',
    ],
  },
  reactions: ['Very well. I am listening.', 'As you say. What comes next?', 'Well, well. Go on.'],
  yesOrNo: {
    taste: ['In small portions, yes. And you?', 'More than I would own to everybody. And you?'],
    experience: [
      'Not that I remember, but I would not rule it out. Why do you ask?',
      'Not yet, unless I have forgotten it. What made you think of it?',
    ],
    skill: [
      'A little, if nobody watches too closely. Can you?',
      'Well enough to be asked, and not well enough to boast.',
    ],
    state: ['Now and then, like everybody. What makes you ask?', 'A little, and I try not to let it show. Are you?'],
    past: [
      'A little, and I did not let it show. Would you have been?',
      'I was, for a while, and then there was no time for it.',
    ],
    habit: ['Now and then, when nobody is looking. Do you?', 'Less often than I should. And you?'],
    wish: ['I might, in the right company. Would you?', 'I should have to be asked twice, but I might. Would you?'],
  },
  introduced: 'So you are {name}.',
  introducedAs: 'So you are {name}, and {work}.',
  ownFact: ['You told me so yourself: “{fact}”', 'I remember what you said: “{fact}”'],
  ownName: ['Your name is {name}. That is not forgotten.', 'You are {name}, or so you told me.'],
  ownFactPartly: [
    'That you did not tell me. What I know of you is this: “{fact}”',
    'I only know what you said: “{fact}”',
  ],
  ownFactUnknown: ['You have not told me yet. Will you?', 'That you have kept from me so far. Tell me.'],
  leads: [
    'It is not quite what you ask, but this I can tell you.',
    'That exactly I cannot say, but this much.',
    'I can answer that only in part.',
  ],
  repeats: ['As I said:', 'As I told you:'],
  clarifies: [
    'What do you mean by “{pronoun}”? Name the thing, and I will try.',
    'Of what are we speaking now? Tell me which thing you mean.',
  ],
  judges: [
    'From what I have told you, what would you say yourself?',
    'I leave that for you to judge. How does it look to you?',
    'On that I have said as much as I will today. What is your own view?',
  ],
  explained: [
    'So that is what it is. Your world has things that I never dreamt of.',
    'I think I begin to see. It must be a curious thing to have about one.',
  ],
  hearsay: [
    'So you have heard of that. What else do they tell of me?',
    'People will talk. What did you think when you heard it?',
    'Is that what is told of me? Then ask, and I will put it right where I can.',
  ],
  yoursToTell: [
    'That you must tell me. You know the thing, and I do not.',
    'How should I know? You brought it up, so you explain it.',
  ],
  unknownThings: [
    'I have never heard of such a thing. What is it, and what do you do with it?',
    'You speak of something that I do not know. Describe it to me.',
  ],
  offers: [
    'That I cannot tell you. But ask me about {topic}, and I have something to say.',
    'I know too little of that. I would sooner speak of {topic}. Shall I?',
    'There I must leave you without an answer. Shall I tell you about {topic} instead?',
  ],
  tells: [
    'Of that I know nothing. But of {topic}, this much. {line}',
    'No answer again, I am afraid. Take this instead, about {topic}. {line}',
  ],
  returnsQuestion: ['And you? {question}', 'Now I ask you the same. {question}'],
};
