/** The eight metrics of SpeechRole-Eval in the order of the paper's tables, named as in its result files. */
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

/** Abbreviations used in the paper's tables. */
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
