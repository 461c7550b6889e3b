import type { SourceId } from '../model.ts';

/** `raw` is for every receiver without its own format. */
export type AlertSink = 'slack' | 'teams' | 'gchat' | 'raw';

export interface Message {
  readonly contentType: 'application/json' | 'text/plain';
  readonly body: string;
  isReceived(status: number): boolean;
}

export type ChangeEvent = 'create' | 'update' | 'delete';

/** Redirects do not count, because they are not followed. */
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

/** Identical to Go's `json.Marshal`. */
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

/** Returns an alert in the format of the sink, identical to stakater/Reloader's. */
export function alertMessage(sink: AlertSink, text: string): Message {
  return FORMS[sink](text);
}

const LEGACY_BODY = '{"webhook":"update successful"}';

/** Returns the body for `--webhook-url`: what changed, by name, or (`legacy`) stakater/Reloader's body, which does not say. */
export function webhookMessage(
  form: 'change' | 'legacy',
  change: { source: SourceId; event: ChangeEvent },
): Message {
  const { kind, namespace, name } = change.source;
  const body =
    form === 'legacy' ? LEGACY_BODY : JSON.stringify({ event: change.event, kind, namespace, name });
  return { contentType: 'application/json', body, isReceived: anySuccess };
}
