/** Finding of a guardrail on a sentence: why the character would not say it. */
export type Violation = 'assistant' | 'out-of-role' | 'prompt-leak' | 'anachronism' | 'language' | 'style' | 'echo';
