const manners: Readonly<Record<string, string>> = {
  cheerful: 'Speak cheerfully.',
  tender: 'Speak tenderly, with affection.',
  sad: 'Speak sadly.',
  angry: 'Speak angrily.',
  afraid: 'Speak in fear.',
  surprised: 'Speak in surprise.',
};

/** The standing instruction plus one for the emotion; undefined if there is neither. */
export function styleInstruction(emotion: string | undefined, standing: string | undefined): string | undefined {
  const told = [standing, emotion === undefined ? undefined : manners[emotion]].filter((text) => text !== undefined);
  return told.length === 0 ? undefined : told.join(' ');
}
