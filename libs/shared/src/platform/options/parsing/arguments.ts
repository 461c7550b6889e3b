/**
 * Reads the command line as pflag does, because stakater/Reloader's users rely on that: `--flag value` and
 * `--flag=value`; a bool stands alone or takes `=value`; the last of a repeated flag wins, lists add up. It collects
 * every error, where libraries stop at the first. (`util.parseArgs` would not stop, but it splits `-pod-name` and takes
 * the second dash for the end of the flags.)
 */
import { redactUrl } from '../../logging/redact-url.ts';

export interface FlagForm {
  readonly flag: string;
  readonly takesValue: boolean;
  /** The flag that this is another spelling of. */
  readonly aliasOf?: string;
}

export interface Arguments {
  /** Every value given, by flag with its dashes, in the order given. A bool without a value is `true`. */
  readonly given: ReadonlyMap<string, readonly string[]>;
  readonly help: boolean;
  readonly version: boolean;
  readonly errors: readonly string[];
}

const LONGEST_SHOWN = 80;

/** A value for error messages: quoted, cut, and without the credentials of a URL. */
export function shown(value: string): string {
  const safe = value.includes('://') || value.includes('@') ? redactUrl(value) : value;
  return JSON.stringify(safe.length > LONGEST_SHOWN ? `${safe.slice(0, LONGEST_SHOWN)}…` : safe);
}

class Reading implements Arguments {
  readonly given = new Map<string, string[]>();
  readonly errors: string[] = [];
  help = false;
  version = false;
  /** The arguments still to be read, in reverse order: the next one is the last element. */
  readonly #rest: string[];
  readonly #forms: ReadonlyMap<string, FlagForm>;

  constructor(argv: readonly string[], forms: readonly FlagForm[]) {
    this.#rest = [...argv].reverse();
    this.#forms = new Map(forms.map((form) => [form.flag, form]));
  }

  readAll(): void {
    for (let next = this.#rest.pop(); next !== undefined; next = this.#rest.pop()) this.#read(next);
  }

  #read(argument: string): void {
    if (argument === '--help' || argument === '-h') this.help = true;
    else if (argument === '--version') this.version = true;
    else if (argument === '--') for (const each of this.#rest.splice(0).reverse()) this.#readPositional(each);
    else if (argument.startsWith('-') && argument !== '-') this.#readFlag(argument);
    else this.#readPositional(argument);
  }

  #readFlag(argument: string): void {
    const [flag = ''] = argument.split('=', 1);
    const inline = flag === argument ? undefined : argument.slice(flag.length + 1);
    const form = this.#forms.get(flag);
    if (form === undefined) this.#readUnknown(flag, inline);
    else if (form.takesValue) this.#store(flag, inline ?? this.#rest.pop());
    else this.#readBool(flag, inline);
  }

  #store(flag: string, value: string | undefined): void {
    if (value === undefined) this.errors.push(`${flag}: expected a value, given none`);
    else {
      const name = this.#forms.get(flag)?.aliasOf ?? flag;
      this.given.set(name, [...(this.given.get(name) ?? []), value]);
    }
  }

  /** Only values that read as a bool are taken: `--dry-run false` gets an error that shows the right form. */
  #readBool(flag: string, inline: string | undefined): void {
    this.#store(flag, inline ?? 'true');
    if (inline === undefined && /^(?:[tf]|true|false|[01])$/iu.test(this.#rest.at(-1) ?? '')) {
      const value = String(this.#rest.pop());
      this.errors.push(`${flag}: expected its value after an equals sign, ${flag}=${value}; given a blank`);
    }
  }

  /** The argument after an unknown flag may be its value and a secret, so it is neither read nor shown. */
  #readUnknown(flag: string, inline: string | undefined): void {
    this.errors.push(`${flag}: expected one of the flags that --help lists, given an unknown one`);
    if (inline === undefined && this.#rest.at(-1)?.startsWith('-') === false) this.#rest.pop();
  }

  #readPositional(argument: string): void {
    this.errors.push(`expected flags only, given the argument ${shown(argument)}`);
  }
}

export function readArguments(argv: readonly string[], forms: readonly FlagForm[]): Arguments {
  const reading = new Reading(argv, forms);
  reading.readAll();
  return reading;
}
