/** Words that the glossary has others for, or that a native reader would stumble over, and the texts in which they are looked for. */
import { parseAst } from 'vitest/node';
import { REASONS } from '@reroll/core/reasons';

/** What an explanation says of a dependency, on the wire. */
const VERDICT = 'Roll';

/** Names on the wire, which are older, stand in code spans, which are not searched. */
const WORDS: readonly (readonly [words: RegExp, instead: string])[] = [
  [/\broll(?:s|ed)?\b(?! out\b| back\b|s? it back\b)/iu, 'reload (what Kubernetes does then is a rollout)'],
  [/\b(?:owed|(?:is|are) due)\b(?! later\b)/iu, 'pending'],
  [/\b(?:doubtful|in doubt)\b/iu, 'unverified, or say what is not known'],
  [/\bledger\b/iu, 'cluster state'],
  [/\bedges?\b/iu, 'dependency'],
  [/\bwak(?:e|es|ing)\b/iu, 'enqueue'],
  [/\bsweeps?\b/iu, 'resync'],
  [/\btwins?\b/iu, 'pending Job'],
  [/\bcontest(?:s|ed)?\b/iu, 'conflict'],
  [/\b(?:presence|announc(?:e|es|ed|ing)|says that it is there)\b/iu, 'heartbeat'],
  [/\ba person's (?:word|request)\b/iu, 'a manual reload'],
  [/\bwhat is told\b/iu, 'the applied record'],
  [/\bnews\b/iu, 'updates'],
  [/\bhow manyth\b/iu, 'the sequence number'],
  [/\bare others now\b/iu, 'changed'],
  [/\bwhat there is to say\b/iu, 'say what'],
  [/\b(?:has|have)(?: \w+){0,3} no more\b/iu, 'no longer'],
  [/\bof then\b/iu, 'current'],
  [/\bthat fits\b/iu, 'matches'],
  [/\banew\b/iu, 'again'],
  [/\bthat is none\b/iu, 'say what it has to be'],
];

/** `<word>: write <instead>` of each place. */
export function forbiddenWords(text: string): readonly string[] {
  const prose = text.replaceAll(/`[^`]*`/gu, '');
  return WORDS.flatMap(([words, instead]) =>
    [...prose.matchAll(new RegExp(words, 'giu'))].map(([word]) => `${word}: write ${instead}`),
  );
}

/** Prose of a Markdown page. Lines of fenced blocks stay as empty ones. */
export function proseOfMarkdown(text: string): string {
  return text
    .replaceAll(/^```[^]*?^```/gmu, (block) => block.replaceAll(/[^\n]/gu, ''))
    .replaceAll(/\]\([^)]*\)/gu, ']');
}

/** What a person reads of a source file: text between tags, and strings, but for names on the wire. */
export function textsOfCode(code: string, file: string): string {
  return textsIn(parseAst(code, { lang: file.endsWith('x') ? 'tsx' : 'ts' })).join('\n');
}

function textsIn(node: unknown): readonly string[] {
  if (Array.isArray(node)) return node.flatMap(textsIn);
  if (typeof node !== 'object' || node === null) return [];
  const { type, value, expression, ...parts } = node as Readonly<Record<string, unknown>>;
  // A type says nothing to anybody; `text as Type` and the like do.
  if (String(type).startsWith('TS')) return textsIn(expression);
  if (type === 'ImportDeclaration' || isId(parts['key'])) return [];
  if (type === 'JSXText') return [String(value)];
  if (type === 'TemplateElement') return readable((value as { readonly cooked?: unknown }).cooked);
  if (type === 'Literal') return readable(value);
  return Object.values({ ...parts, value, expression }).flatMap(textsIn);
}

/** Whether this is the key of a name on the wire. */
function isId(key: unknown): boolean {
  return (key as { readonly name?: unknown } | null | undefined)?.name === 'id';
}

/** The text, if it has several words, or one with a capital that is neither reason nor verdict. */
function readable(text: unknown): readonly string[] {
  if (typeof text !== 'string') return [];
  const isWord = /^[A-Z][a-z]+$/u.test(text) && text !== VERDICT && !Object.hasOwn(REASONS, text);
  return isWord || /\w \w/u.test(text) ? [text] : [];
}

/** Comments of a YAML file, but for those that begin with an `@`. */
export function commentsOfYaml(text: string): string {
  return [...text.matchAll(/^ *# *(?:-- *)?([^@\s-].*)$/gmu)].map(([, comment]) => comment).join('\n');
}

/** A template of Helm without its actions. */
export function textOfTemplate(text: string): string {
  return text.replaceAll(/\{\{[^]*?\}\}/gu, '');
}
