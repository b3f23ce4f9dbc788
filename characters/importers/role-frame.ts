const frame =
  /^(?:I want you to (?:act|respond)|If others['’]? questions|You must know all|Do not write any explanations|Please do not (?:expose|write))/u;

/** Strips the lines that all prompts of ChatHaruhi's kind share (RoleLLM and SpeechRole adopted it). */
export function withoutFrame(prompt: string): string {
  return prompt
    .split(/\r?\n/u)
    .filter((line) => !frame.test(line.trim()))
    .join('\n')
    .trim();
}
