import type { SourceId } from '../model.ts';

/** `raw` is for everything that is no chat that has a form of its own. */
export type AlertSink = 'slack' | 'teams' | 'gchat' | 'raw';

/** A request body, and the answers that count as received. */
export interface Message {
  readonly contentType: 'application/json' | 'text/plain';
  readonly body: string;
  isReceived(status: number): boolean;
}

/** What became of a source. */
export type ChangeEvent = 'create' | 'update' | 'delete';

/** Of any success; a redirect is none, because it is not followed. */
function anySuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function isOk(status: number): boolean {
  return status === 200;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '<': String.raw`\u003c`,
  '>': String.raw`\u003e`,
  '&': String.raw`\u0026`,
  '\u2028': String.raw`\u2028`,
  '\u2029': String.raw`\u2029`,
};

/** As Go's `json.Marshal` writes it, byte for byte. */
function goJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[<>&\u2028\u2029]/gu, (character) => ESCAPES[character] ?? '');
}

const FORMS: Readonly<Record<AlertSink, (text: string) => Message>> = {
  slack: (text) => ({
    contentType: 'application/json',
    body: goJson({ attachments: [{ author_name: 'Reloader', color: 'good', text }] }),
    isReceived: anySuccess,
  }),
  teams: (text) => ({ contentType: 'application/json', body: goJson({ text }), isReceived: isOk }),
  gchat: (text) => ({ contentType: 'application/json', body: goJson({ text }), isReceived: isOk }),
  raw: (text) => ({ contentType: 'text/plain', body: text.replaceAll('*', ''), isReceived: anySuccess }),
};

/** An alert as the sink takes it: the incumbent's bytes. */
export function alertMessage(sink: AlertSink, text: string): Message {
  return FORMS[sink](text);
}

const LEGACY_BODY = '{"webhook":"update successful"}';

/** The body of `--webhook-url`: what changed, by name, or (`legacy`) the incumbent's, which does not say. */
export function webhookMessage(
  form: 'change' | 'legacy',
  change: { source: SourceId; event: ChangeEvent },
): Message {
  const { kind, namespace, name } = change.source;
  const body =
    form === 'legacy' ? LEGACY_BODY : JSON.stringify({ event: change.event, kind, namespace, name });
  return { contentType: 'application/json', body, isReceived: anySuccess };
}
