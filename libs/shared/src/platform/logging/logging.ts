/**
 * The log: pino in the two formats of stakater/Reloader, which uses logrus. Messages are our own words; fields are keys,
 * codes, counts and reasons. The type of fields allows no objects, so no whole object of the cluster can be logged by
 * mistake, and other values that get past the type are replaced at run time.
 */
import { destination, pino } from 'pino';
import { errorFields } from './error-fields.ts';
import { escapeUnseen } from './escape-unseen.ts';
import { logfmt } from './logfmt.ts';

/** From least to most severe. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warning', 'error', 'fatal', 'panic'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type LogFormat = 'text' | 'json';

export type LogValue = string | number | boolean | undefined | readonly string[];
export type LogFields = Readonly<Record<string, LogValue>>;

type Log = (message: string, fields?: LogFields) => void;

export interface Logger extends Readonly<Record<LogLevel, Log>> {
  /** A logger that adds these fields to every line. */
  child(fields: LogFields): Logger;
  /** Logs an error at level `error` with the fields of `errorFields` only. */
  failure(message: string, error: unknown, fields?: LogFields): void;
}

/** Receives lines, each with its newline. */
export interface LogSink {
  write(line: string): unknown;
}

export interface LoggerSettings {
  readonly format: LogFormat;
  readonly level: LogLevel;
  /** Default: standard error, written synchronously. */
  readonly sink?: LogSink;
  readonly now?: () => Date;
}

const LEVEL_VALUES = Object.fromEntries(
  LOG_LEVELS.map((level, index) => [level, (index + 1) * 10]),
) as Record<LogLevel, number>;

/** Keys that every line has. A field with one of these names is renamed as logrus does. */
const RESERVED: ReadonlySet<string> = new Set(['time', 'level', 'msg']);

/** Replaces values other than texts, numbers, booleans and lists of texts. */
const WITHHELD = '[withheld]';

function isLoggable(value: unknown): boolean {
  if (Array.isArray(value)) return value.every((each) => typeof each === 'string');
  return ['string', 'number', 'boolean', 'undefined'].includes(typeof value);
}

function cleaned(fields: LogFields): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      RESERVED.has(key) ? `fields.${key}` : key,
      isLoggable(value) ? value : WITHHELD,
    ]),
  );
}

/** RFC 3339 without fractions, in UTC, as logrus writes in a container. */
function timestamp(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}

function asText(sink: LogSink): LogSink {
  return {
    write: (line) => sink.write(`${logfmt(JSON.parse(line) as Record<string, unknown>)}\n`),
  };
}

function asJson(sink: LogSink): LogSink {
  return { write: (line) => sink.write(escapeUnseen(line)) };
}

function pinoOf({ format, level, sink, now = () => new Date() }: LoggerSettings) {
  const target = sink ?? destination({ fd: 2, sync: true });
  return pino<LogLevel, true>(
    {
      base: null,
      level,
      customLevels: LEVEL_VALUES,
      useOnlyCustomLevels: true,
      formatters: { level: (label) => ({ level: label }) },
      timestamp: () => `,"time":"${timestamp(now())}"`,
    },
    format === 'text' ? asText(target) : asJson(target),
  );
}

type Write = (level: LogLevel, line: Record<string, unknown>, message: string) => void;

const IGNORE: Log = () => undefined;

/** A logger that calls `write` for lines at or above the threshold. */
function loggerOn(write: Write, threshold: number): Logger {
  const at = (level: LogLevel): Log =>
    LEVEL_VALUES[level] < threshold
      ? IGNORE
      : (message, fields = {}) => write(level, cleaned(fields), message);
  const methods = Object.fromEntries(LOG_LEVELS.map((level) => [level, at(level)])) as Record<LogLevel, Log>;
  const child = (bound: LogFields): Logger =>
    loggerOn((level, line, message) => write(level, { ...cleaned(bound), ...line }, message), threshold);
  const failure: Logger['failure'] = (message, error, fields) =>
    methods.error(message, { ...fields, ...errorFields(error) });
  return { ...methods, child, failure };
}

export function createLogger(settings: LoggerSettings): Logger {
  const log = pinoOf(settings);
  return loggerOn((level, line, message) => log[level](line, message), LEVEL_VALUES[settings.level]);
}

/** Logs nothing; for specs and tools. */
export const silentLogger: Logger = loggerOn(() => undefined, Number.POSITIVE_INFINITY);
