/** Year in which people could first speak of an invention, with its common names. */
const inventions: readonly (readonly [year: number, names: string])[] = [
  [1825, 'railway|railroad|locomotive'],
  [1839, 'photograph|photographs|photography|照片|照相'],
  [1844, 'telegraph|telegram|电报'],
  [1876, 'telephone|telephones|电话'],
  [1877, 'phonograph|gramophone|留声机'],
  [1879, 'light ?bulb|light ?bulbs|电灯'],
  [1886, 'automobile|automobiles|motor ?car|motor ?cars|汽车'],
  [1895, 'movie|movies|film star|x-rays?|电影'],
  [1896, 'radio|radios|wireless set|收音机|广播'],
  [1903, 'airplane|airplanes|aeroplane|aeroplanes|aircraft|airport|airports|飞机'],
  [1920, 'robot|robots|机器人'],
  [1927, 'television|televisions|tv|电视'],
  [1940, 'penicillin|antibiotics?|抗生素'],
  [1945, 'computer|computers|atomic bomb|nuclear|电脑|计算机|原子弹'],
  [1956, 'artificial intelligence|人工智能'],
  [1957, 'satellite|satellites|astronauts?|卫星|宇航员'],
  [1971, 'e-?mail|e-?mails|microchips?|电子邮件'],
  [1983, 'internet|cell ?phones?|mobile phones?|互联网|手机'],
  [1991, 'web ?sites?|web ?pages?|world wide web|online|网站|网络|上网'],
  [1998, 'google|wi-?fi|谷歌|无线网'],
  [2004, 'facebook|youtube|twitter|instagram|tik ?tok|netflix|脸书|抖音|微博'],
  [2007, 'smart ?phones?|iphones?|app store|podcasts?|智能手机|微信'],
  [2009, 'bitcoin|crypto(?:currency)?|blockchain|比特币|区块链'],
  [2018, 'covid|chat ?gpt|large language models?|新冠|大模型'],
];

const spelledYear =
  /\b(?:nineteen|twenty)[ -](?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen)(?:[ -](?:one|two|three|four|five|six|seven|eight|nine))?\b/iu;

/** Checks for things after `untilYear` that nobody mentioned: by name, or as years in figures or (1900 on) words. */
export function inventionsAfter(untilYear: number | undefined): (sentence: string, mentioned: string) => boolean {
  if (untilYear === undefined) return () => false;
  const names = inventions.flatMap(([year, each]) => (year > untilYear ? each.split('|') : []));
  const latin = names.filter((name) => !/\p{Script=Han}/u.test(name));
  const patterns = [
    ...(latin.length === 0 ? [] : [new RegExp(`\\b(?:${latin.join('|')})\\b`, 'giu')]),
    ...names.filter((name) => /\p{Script=Han}/u.test(name)).map((name) => new RegExp(name, 'gu')),
  ];
  return (sentence, mentioned) => {
    const heard = mentioned.toLowerCase();
    const isNew = (word: string): boolean => !heard.includes(word.toLowerCase());
    const years =
      sentence.match(/\b(?:1\d{3}|20\d{2})\b(?!\s*(?:men|miles|feet|leagues|times|years|pounds|ships))/gu) ?? [];
    if (years.some((year) => Number(year) > untilYear && isNew(year))) return true;
    if (untilYear < 1_920 && spelledYear.test(sentence) && isNew(spelledYear.exec(sentence)?.[0] ?? '')) return true;
    return patterns.some((pattern) => (sentence.match(pattern) ?? []).some(isNew));
  };
}
