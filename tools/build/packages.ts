import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A package that a bundle has code of. */
export interface Package {
  readonly folder: string;
  readonly name: string;
  readonly version: string;
  /** As SPDX has it; empty if the package does not say. */
  readonly license: string;
}

const FOLDER = /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;

/** The packages that files are of, by name, each version once. Paths are from the present folder. */
export function packagesOf(files: readonly string[]): readonly Package[] {
  const folders = new Set(files.flatMap((file) => FOLDER.exec(file)?.[0] ?? []));
  const packages = [...folders].flatMap((folder) => {
    const manifest = join(folder, 'package.json');
    if (!existsSync(manifest)) return [];
    const found = JSON.parse(readFileSync(manifest, 'utf8')) as Omit<Package, 'folder' | 'license'> &
      Partial<Package> & { licenses?: readonly { readonly type?: string }[] };
    // Before there was `license` there was a list.
    const { name, version, licenses: [old] = [], license = old?.type ?? '' } = found;
    return [[`${name} ${version}`, { folder, name, version, license }] as const];
  });
  const byName = [...new Map(packages)].sort(([a], [b]) => a.localeCompare(b));
  return byName.map(([, each]) => each);
}
