import { type ImageRule, LIBRARIES, PROGRAMS } from '../src/pods/images.ts';

const shell = {
  layers: [...LIBRARIES, ...PROGRAMS],
  entrypoint: ['sh', '-c'],
  arguments: ['sleep infinity'],
  workingDir: '/work',
  user: 0,
  group: 0,
  env: { FROM_IMAGE: 'yes' },
};

/** `shell` runs as root, `plain` as 1000; both take a script. */
export const testImages: readonly ImageRule[] = [
  { reference: /^shell$/, image: shell },
  { reference: /^plain$/, image: { ...shell, user: 1000, group: 1000 } },
];
