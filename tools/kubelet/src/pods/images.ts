import { existsSync } from 'node:fs';
import { NotYet } from '../errors.ts';

/** A file or folder of this machine, at a path in the container, read-only. */
export interface Layer {
  readonly from: string;
  readonly to: string;
}

/** What a container image would say and hold. */
export interface Image {
  readonly layers: readonly Layer[];
  readonly entrypoint: readonly string[];
  /** Default of `args`. */
  readonly arguments: readonly string[];
  readonly workingDir: string;
  readonly user: number;
  readonly group: number;
  readonly env: Readonly<Record<string, string>>;
  /** Stands for an entrypoint that is a script. Default: none. */
  readonly prepare?: (command: readonly string[]) => readonly string[];
}

/** Which images there are: what stands for those whose reference matches. */
export interface ImageRule {
  readonly reference: RegExp;
  readonly image: Image;
}

/** The libraries that programs of this machine need, without any program. */
export const LIBRARIES: readonly Layer[] = present([
  '/usr/lib',
  '/lib',
  '/lib64',
  '/etc/ssl/certs',
  '/usr/share/ca-certificates',
]);

/** The programs of this machine, the shell included. */
export const PROGRAMS: readonly Layer[] = present(['/usr/bin', '/bin']);

/** @throws NotYet (ErrImagePull) when no rule names the image: a chart with a wrong reference shows so. */
export function findImage(rules: readonly ImageRule[], reference: string): Image {
  const rule = rules.find((each) => each.reference.test(reference));
  if (rule) return rule.image;
  throw new NotYet('ErrImagePull', `expected an image that this kubelet has, given ${reference}`);
}

function present(paths: readonly string[]): Layer[] {
  return paths.filter((path) => existsSync(path)).map((path) => ({ from: path, to: path }));
}
