import { parse } from 'luaparse';
import { Generator } from './generator.ts';
import type { LuaFunction } from './operators.ts';
import { RUNTIME } from './runtime.ts';
import { LuaCompileError } from './scope.ts';
import type { LuaTable, LuaValue } from './values.ts';

/** What a script calls outside of itself: the libraries `redis` and `os`. */
export interface Surroundings {
  readonly redis: Readonly<Record<string, LuaFunction | number>>;
  readonly os: Readonly<Record<string, LuaFunction>>;
}

export type CompiledScript = (surroundings: Surroundings, keys: LuaTable, argv: LuaTable) => LuaValue;

const compiled = new Map<string, CompiledScript>();

/**
 * Compiles a Lua script to a JavaScript function, once per text. The text has one character a byte. Throws a `LuaCompileError` for
 * what is no Lua 5.1, and for what is not supported.
 */
export function compile(text: string): CompiledScript {
  let script = compiled.get(text);
  if (!script) {
    script = build(text);
    compiled.set(text, script);
  }
  return script;
}

function build(text: string): CompiledScript {
  const names = Object.keys(RUNTIME);
  const code = `'use strict';
const { ${names.join(', ')} } = runtime;
return ({ redis, os }, KEYS, ARGV) => {
${javaScriptOf(text)}};`;
  // oxlint-disable-next-line no-new-func, typescript/no-implied-eval -- the point of a compiler
  const factory = new Function('runtime', code) as (runtime: typeof RUNTIME) => CompiledScript;
  return factory(RUNTIME);
}

function javaScriptOf(text: string): string {
  try {
    const { body } = parse(text, {
      luaVersion: '5.1',
      encodingMode: 'pseudo-latin1',
      comments: false,
      locations: true,
      ranges: true,
    });
    return new Generator(text).script(body);
  } catch (error) {
    if (error instanceof LuaCompileError || !(error instanceof SyntaxError)) throw error;
    throw new LuaCompileError(`user_script:${error.message}`, { cause: error });
  }
}
