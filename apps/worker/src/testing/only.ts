/** A fake with only these members: access to any other fails the spec. */
export function only<T extends object>(name: string, members: { readonly [Key in keyof T]?: unknown }): T {
  return new Proxy(members as T, {
    get: (target, key) => {
      if (key in target) return Reflect.get(target, key) as unknown;
      throw new Error(`${name}.${String(key)} was not expected to be used`);
    },
  });
}
