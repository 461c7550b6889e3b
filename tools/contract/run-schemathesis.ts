import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../cluster/src/run.ts';
import { ensureSchemathesis } from './ensure-schemathesis.ts';
import type { OpenApiDocument } from './openapi-examples.ts';

export interface ContractRun {
  readonly document: OpenApiDocument;
  /** Of the API: `http://127.0.0.1:8080/api/v1`. */
  readonly url: string;
  /** Of somebody who may do everything. */
  readonly token: string;
  /** Everything that is random follows from it. */
  readonly seed: number;
  /** Operations whose answer never ends, each with headers that have it begin at once. Only its first event is read. */
  readonly streams: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Further statuses with which an operation refuses what its schemas allow: for rules that a schema cannot tell. */
  readonly refusals: Readonly<Record<string, readonly number[]>>;
  readonly log: (line: string) => void;
}

export interface Answered {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly status: number;
}

export interface ContractResult {
  /** Whether every answer was as documented. */
  readonly ok: boolean;
  /** What schemathesis prints: failures, each with a request that shows it again. */
  readonly output: string;
  readonly answers: readonly Answered[];
}

/** How good input may be refused: for who asks, for what there is, or for what was asked before. */
const REFUSALS = [401, 403, 404, 409, 422, 429];

/** Longer than an answer of the API may take. */
const ANSWER_WITHIN = 20;

/**
 * Sends the examples of the document, and every kind of what it allows and does not, to the API, and holds every answer against the document: no 5xx, no other
 * status, header, type or shape than documented, bad input refused and good input accepted, no other method, no way in without the token.
 */
export async function runSchemathesis(contract: ContractRun): Promise<ContractResult> {
  const { log } = contract;
  const python = await ensureSchemathesis({ log });
  const folder = mkdtempSync(join(tmpdir(), 'reroll-contract-'));
  try {
    const [document, settings, report] = ['openapi.json', 'settings.toml', 'report.har'].map((file) =>
      join(folder, file),
    ) as [string, string, string];
    writeFileSync(document, JSON.stringify(contract.document));
    writeFileSync(settings, settingsOf(contract, report));
    const lines: string[] = [];
    const args = ['-m', 'schemathesis.cli', '--config-file', settings, 'run', document, '--no-color'];
    const { code } = await run(python, args, { cwd: folder, onLine: (line) => lines.push(line) });
    return { ok: code === 0, output: lines.join('\n'), answers: answersOf(report) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function settingsOf(contract: ContractRun, report: string): string {
  const { url, token, seed, streams, refusals } = contract;
  const perStream = Object.entries(streams).flatMap(([operation, headers]) => [
    '[[operations]]',
    `include-operation-id = ${text(operation)}`,
    'max-stream-events = 1',
    `headers = { ${Object.entries(headers)
      .map(([name, value]) => `${text(name)} = ${text(value)}`)
      .join(', ')} }`,
  ]);
  const perRefusal = Object.entries(refusals).flatMap(([operation, statuses]) => [
    '[[operations]]',
    `include-operation-id = ${text(operation)}`,
    `checks.positive_data_acceptance.${accepted(statuses)}`,
  ]);
  return [
    `seed = ${seed}`,
    `base-url = ${text(url)}`,
    `request-timeout = ${ANSWER_WITHIN}`,
    'continue-on-failure = true',
    '[auth.openapi.bearer]',
    `bearer = ${text(token)}`,
    ...['fuzzing', 'stateful'].flatMap((phase) => [`[phases.${phase}]`, 'enabled = false']),
    '[generation]',
    'database = "none"',
    '[checks.positive_data_acceptance]',
    accepted([]),
    '[reports.har]',
    `path = ${text(report)}`,
    ...perStream,
    ...perRefusal,
    '',
  ].join('\n');
}

/** As TOML has it. */
function text(value: string): string {
  return JSON.stringify(value);
}

function accepted(more: readonly number[]): string {
  return `expected-statuses = ["2xx", ${[...REFUSALS, ...more].join(', ')}]`;
}

interface Har {
  readonly log: {
    readonly entries: readonly {
      readonly request: { readonly method: string; readonly url: string };
      readonly response: { readonly status: number };
    }[];
  };
}

function answersOf(report: string): Answered[] {
  const { log } = JSON.parse(readFileSync(report, 'utf8')) as Har;
  return log.entries.map(({ request, response }) => ({
    method: request.method.toLowerCase(),
    path: new URL(request.url).pathname,
    status: response.status,
  }));
}
