/** The eight metrics of SpeechRole-Eval, in the order of the paper's tables, by the names that its result files use. */
export const metricKeys = [
  'Instruction_Adherence',
  'Speech_Fluency',
  'Conversational_Coherence',
  'Speech_Naturalness',
  'Prosodic_Consistency',
  'Emotion_Appropriateness',
  'Personality_Consistency',
  'Knowledge_Consistency',
] as const;
export type MetricKey = (typeof metricKeys)[number];

/** As the paper's tables abbreviate them. */
export const metricShort: Readonly<Record<MetricKey, string>> = {
  Instruction_Adherence: 'IA',
  Speech_Fluency: 'SF',
  Conversational_Coherence: 'CC',
  Speech_Naturalness: 'SN',
  Prosodic_Consistency: 'PC',
  Emotion_Appropriateness: 'EA',
  Personality_Consistency: 'PeC',
  Knowledge_Consistency: 'KC',
};

/** The eight sub-tasks in their three groups (paper, appendix C). */
export const categoryGroups = {
  'Internal Reasoning': ['Opinion and Emotion Inquiry', 'Reasoning and Motivation', 'Reflection and Change'],
  'Experiential Narration': [
    'Action Description and Retrospection',
    'Skills and Abilities',
    'Historical and Background Description',
  ],
  'Social Communication': ['Judgment of Others and Events', 'Advice and Life Experience'],
} as const;

/** All sub-tasks, in the order of their groups. */
export const categories: readonly string[] = Object.values(categoryGroups).flat();

/** What a judge is asked to look at, by metric: the definitions of the paper, section 4.2, in our words. */
export const metricQuestions: Readonly<Record<MetricKey, string>> = {
  Instruction_Adherence:
    'Instruction adherence: does the speaker stay in the role throughout, as told to, without stepping out of it to explain, and without talking like an assistant?',
  Speech_Fluency:
    'Speech fluency: is the speech delivered smoothly, clearly articulated and well paced, with few stumbles, stutters or pauses where none belong?',
  Conversational_Coherence:
    'Conversational coherence: do the answers fit what was asked and what was said before, without contradicting themselves or jumping to something else?',
  Speech_Naturalness:
    'Speech naturalness: does it sound like a living person, free of artefacts, buzzing, clipping and the flatness of synthetic speech?',
  Prosodic_Consistency:
    'Prosodic consistency: do pitch, stress and intonation suit how this character would speak, and stay the same character from beginning to end?',
  Emotion_Appropriateness:
    'Emotion appropriateness: do the feelings that can be heard suit the situation and what the character would feel in it?',
  Personality_Consistency:
    "Personality consistency: do the answers show this character's traits, such as hope, sarcasm or authority, and keep to them?",
  Knowledge_Consistency:
    'Knowledge consistency: do the answers rest on what this character knows, has lived through and whom they know, without inventing what is foreign to them?',
};
