import type { Commands } from './command.ts';
import { HASH_COMMANDS } from './hash-commands.ts';
import { KEY_COMMANDS } from './key-commands.ts';
import { LIST_COMMANDS } from './list-commands.ts';
import { SET_COMMANDS } from './set-commands.ts';
import { SORTED_SET_COMMANDS } from './sorted-set-commands.ts';
import { STREAM_COMMANDS } from './stream-commands.ts';
import { STRING_COMMANDS } from './string-commands.ts';

/** The commands on data that never wait. */
export const DATA_COMMANDS: Commands = {
  ...STRING_COMMANDS,
  ...KEY_COMMANDS,
  ...HASH_COMMANDS,
  ...SET_COMMANDS,
  ...LIST_COMMANDS,
  ...SORTED_SET_COMMANDS,
  ...STREAM_COMMANDS,
};
