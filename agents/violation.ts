/** What a guardrail found wrong with a sentence: why the character would not say it. */
export type Violation = 'assistant' | 'out-of-role' | 'prompt-leak' | 'anachronism' | 'language' | 'style' | 'echo';
