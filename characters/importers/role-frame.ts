const frame =
  /^(?:I want you to (?:act|respond)|If others['’]? questions|You must know all|Do not write any explanations|Please do not (?:expose|write))/u;

/** A prompt of ChatHaruhi's kind (RoleLLM and SpeechRole took it over) without the lines that all of them share. */
export function withoutFrame(prompt: string): string {
  return prompt
    .split(/\r?\n/u)
    .filter((line) => !frame.test(line.trim()))
    .join('\n')
    .trim();
}
