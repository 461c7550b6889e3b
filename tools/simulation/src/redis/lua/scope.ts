/** What cannot be compiled. The message has the line and what it is. */
export class LuaCompileError extends Error {
  override readonly name = 'LuaCompileError';
}

/** Where a piece of Lua stands, as luaparse reports it. */
export interface Located {
  readonly loc?: { readonly start: { readonly line: number } } | undefined;
}

export function lineOf({ loc }: Located): number {
  return loc?.start.line ?? 0;
}

export function unsupported(node: Located, what: string): LuaCompileError {
  return new LuaCompileError(`user_script:${lineOf(node)}: ${what} is not supported`);
}

/** The local variables in force while a script is compiled, with their names in JavaScript, each of which is used once only. */
export class Scope {
  readonly #blocks: Map<string, string>[] = [new Map()];
  #next = 0;

  declare(name: string): string {
    const unique = this.fresh(name);
    this.#blocks.at(-1)?.set(name, unique);
    return unique;
  }

  /** A name that no variable of the script has. */
  fresh(name: string): string {
    this.#next++;
    return `${name}$${this.#next}`;
  }

  /** Returns undefined for a global. */
  find(name: string): string | undefined {
    return this.#blocks.findLast((block) => block.has(name))?.get(name);
  }

  within<T>(action: () => T): T {
    this.#blocks.push(new Map());
    try {
      return action();
    } finally {
      this.#blocks.pop();
    }
  }
}
